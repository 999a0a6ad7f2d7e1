"""Run the short benchmarks in turn, each in a process of its own: `python -m benchmarks`.

Options are handed on to each; a benchmark that fails does not stop the ones after it.
"""

import subprocess
import sys

SHORT = (
    "import_openimages",
    "selection",
    "claims",
    "pages",
    "exclusion",
    "release",
    "export",
    "sync",
)


def run(names: tuple[str, ...], arguments: list[str]) -> list[str]:
    """The names of the benchmarks that failed."""
    commands = {name: [sys.executable, "-m", f"benchmarks.{name}", *arguments] for name in names}
    return [name for name, command in commands.items() if subprocess.run(command).returncode]


if __name__ == "__main__":
    if failed := run(SHORT, sys.argv[1:]):
        sys.exit(f"Failed: {', '.join(failed)}")
