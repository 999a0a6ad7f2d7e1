"""Install a requirements file into .venv, by uv from the package index that pip is configured for.

It needs Python alone: uv comes from the same index, into its own environment in build/tools. Where
uv does not work, pip installs instead, which takes several times as long. Packages that the file
does not list are removed from .venv.
"""

import argparse
import ast
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / ".venv"
TOOLS = ROOT / "build" / "tools"
Command = list[str | Path]
# For each setting of pip's: uv's environment variable of the same meaning, and what separates
# several values there.
SETTINGS: dict[str, tuple[str, str]] = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requirements", type=Path, help="a file with the hashes of each package")
    requirements = parser.parse_args().requirements
    pip: Command = [_environment(TOOLS, with_pip=True), "-m", "pip"]
    python = _environment(TARGET, with_pip=False)
    if not _installed_by_uv(pip, python, requirements):
        print("uv does not work here, so pip installs the packages.", file=sys.stderr)
        install: Command = [*pip, "--python", python, "install", "--quiet", "--no-compile"]
        subprocess.run([*install, "--require-hashes", "-r", requirements], check=True)
    # pcre2's wheel puts 22 MB of C sources beside the packages, which nothing reads.
    shutil.rmtree(TARGET / "src", ignore_errors=True)
    _compile(python)


def _compile(python: Path) -> None:
    """Compile the packages to bytecode, but not their tests, which take up 14 MB."""
    compile_all: Command = [python, "-m", "compileall", "-qq", "-j", "0", "-x", r"[\\/]tests[\\/]"]
    # Some packages have templates of modules, which do not compile.
    subprocess.run([*compile_all, TARGET / "lib"], check=False)


def _environment(folder: Path, *, with_pip: bool) -> Path:
    """The Python of a virtual environment, which is made if there is none."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, symlinks=True, with_pip=with_pip)
    return python


def _installed_by_uv(pip: Command, python: Path, requirements: Path) -> bool:
    get_uv = [*pip, "install", "--quiet", "--require-hashes", "-r", ROOT / "requirements-uv.txt"]
    if subprocess.run(get_uv, check=False).returncode:
        return False
    listed = subprocess.run(
        [*pip, "config", "list"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    # Any index may have the file: its hash is the one that is listed, or it is not installed.
    environment = {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        **dict(uv_settings(listed.splitlines())),
        **os.environ,
    }
    sync: Command = [TOOLS / "bin" / "uv", "pip", "sync", "--quiet", "--require-hashes"]
    sync = [*sync, "--python", python, requirements]
    return not subprocess.run(sync, check=False, env=environment).returncode


def uv_settings(pip_config: list[str]) -> Iterator[tuple[str, str]]:
    """uv's settings that say the same as the lines of `pip config list`, the weaker ones first."""
    for line in sorted(pip_config, key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        variable, separator = SETTINGS.get(name.rpartition(".")[2], ("", ""))
        if variable:
            yield variable, separator.join(ast.literal_eval(value).split())


if __name__ == "__main__":
    main()
