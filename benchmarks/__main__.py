"""Run the short benchmarks one after the other, each in its own process: `python -m benchmarks`.

Options are passed on to each. If a benchmark fails, the next ones still run.
"""

import subprocess
import sys

SHORT = (
    "import_openimages",
    "selection",
    "claims",
    "pages",
    "release",
    "export",
    "sync",
    "caption_cost",
)


def run(names: tuple[str, ...], arguments: list[str]) -> list[str]:
    """Run the benchmarks. Returns the names of those that failed."""
    commands = {name: [sys.executable, "-m", f"benchmarks.{name}", *arguments] for name in names}
    return [name for name, command in commands.items() if subprocess.run(command).returncode]


if __name__ == "__main__":
    if failed := run(SHORT, sys.argv[1:]):
        sys.exit(f"Failed: {', '.join(failed)}")
