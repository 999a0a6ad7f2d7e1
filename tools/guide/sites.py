"""The sites whose pages are photographed: a copy of the demonstration, served by `serve`."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hits.local.folders import is_demonstration
from hits.local.processes import (
    MANAGE,
    Installation,
    clean_environment,
    manage,
)

PASSWORD = re.compile(r"sign in as (\S+) with the password (\S+)")
VISITOR = re.compile(r"sign in as worker “visitor”: (\S+)()")
OPERATOR = re.compile(r"User name: (\S+), password: (\S+)")
SECONDS = 180


@dataclass(frozen=True)
class Account:
    name: str
    password: str


@dataclass(frozen=True)
class Sites:
    """The two sites, an account on each, and the link that signs a worker in."""

    places: Installation
    researcher: Account
    operator: Account
    visitor: str

    def manage(self, *arguments: str) -> str:
        """Run a command with the sites' databases and the requester's keys; return its output."""
        environment = self.places.environment()
        return manage(arguments, environment | self.places.keys(environment))

    def scenes(self) -> list[Path]:
        """The image files of the demonstration."""
        return sorted((self.places.folder / "dataset").rglob("*.jpg"))


@contextmanager
def demonstration(folder: Path, port: int) -> Iterator[Sites]:
    """Serve a copy of the demonstration, which is made in the folder if there is none."""
    original, copy = folder / "demo", folder / "served"
    said = folder / "demo.log"
    if not (is_demonstration(original) and PASSWORD.search(_read(said))):
        folder.mkdir(parents=True, exist_ok=True)
        said.write_text(
            _run("demo", "--out", str(original), *_ports(port, port + 1)), encoding="utf-8"
        )
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    places = Installation(copy, port, port + 1).on_free_ports()
    ports = _ports(places.site_port, places.marketplace_port)
    with _served(["serve", "--demo", str(copy), *ports], copy / "serve.log") as printed:
        researcher = Account(*_found(PASSWORD, _read(said)))
        operator = Account(*_found(OPERATOR, printed))
        yield Sites(places, researcher, operator, _found(VISITOR, printed)[0])


def _ports(site: int, marketplace: int) -> list[str]:
    return ["--port", str(site), "--marketplace-port", str(marketplace)]


def _run(*arguments: str) -> str:
    command = [sys.executable, str(MANAGE), *arguments]
    return subprocess.run(
        command, check=True, env=clean_environment({}), stdout=subprocess.PIPE, text=True
    ).stdout


@contextmanager
def _served(arguments: Sequence[str], log: Path) -> Iterator[str]:
    """Run `serve`; yield what it prints up to the line that says how to stop it."""
    command = [sys.executable, "-u", str(MANAGE), *arguments]
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=clean_environment({}), stdout=out)
    try:
        end = time.monotonic() + SECONDS
        while "Stop with" not in (printed := _read(log)):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"`serve` did not start. It printed:\n{printed}")
            time.sleep(0.2)
        yield printed
    finally:
        process.terminate()
        process.wait(SECONDS)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _found(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    match = pattern.search(text)
    if match is None:
        raise RuntimeError(f"No line has the form {pattern.pattern!r} in:\n{text}")
    return match[1], match[2]
