"""Run both sites as processes on one machine, in a folder with their databases and files.

Only the folder of a demonstration is ever emptied.
"""

import fcntl
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from corpora.errors import DomainError

MANAGE = Path(__file__).resolve().parents[1] / "manage.py"
PROGRAM = [sys.executable, str(MANAGE)]
# Before a command: how a background process lets others go first.
NICE = ["nice", "-n", "10"]
SITE_PORT, MARKETPLACE_PORT = 8000, 8001
HOST = "127.0.0.1"
# How often, and within how many seconds, a process that has ended is started again.
MOST_RESTARTS, RESTARTS_WITHIN = 3, 60
# Both sites write this as soon as they listen.
LISTENING = b" is ready at "
# Name of the requester that workers of the local marketplace see.
REQUESTER = "Caption campaigns"


class ProcessFailed(DomainError):
    """A child process failed. The message has its last output or names its log."""


@dataclass(frozen=True)
class Installation:
    """A folder with the databases and files of both sites, and the ports of the sites."""

    folder: Path
    site_port: int = SITE_PORT
    marketplace_port: int = MARKETPLACE_PORT

    @property
    def site_url(self) -> str:
        return f"http://{HOST}:{self.site_port}"

    @property
    def marketplace_url(self) -> str:
        return f"http://{HOST}:{self.marketplace_port}"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def environment_file(self) -> Path:
        return self.folder / "environment.sh"

    def environment(self) -> dict[str, str]:
        """The environment variables that make both sites use this folder and these ports."""
        # Requests to this machine must not go through a proxy.
        direct = [name for name in (os.environ.get("NO_PROXY"), HOST, "localhost") if name]
        return {
            "NO_PROXY": ",".join(direct),
            # Pools of memory for all threads of a process. By default, each thread has its own.
            "MALLOC_ARENA_MAX": "2",
            "DATABASE_URL": f"sqlite:///{quote(str(self.folder / 'campaigns.sqlite3'))}",
            "MEDIA_ROOT": str(self.folder / "media"),
            "SITE_URL": self.site_url,
            "MTURK_ENDPOINT": "local",
            "SYNC_SECONDS": "10",
            "MARKETPLACE_DATABASE_URL": (
                f"sqlite:///{quote(str(self.folder / 'marketplace.sqlite3'))}"
            ),
            "MARKETPLACE_URL": self.marketplace_url,
        }

    def keys(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The requester's access keys as environment variables.

        The first call creates the requester; later calls return the same keys.
        """
        keys = json.loads(manage(["marketplace_requester", REQUESTER, "--json"], environment))
        return {
            "AWS_ACCESS_KEY_ID": keys["access_key"],
            "AWS_SECRET_ACCESS_KEY": keys["secret_key"],
        }

    def keep_environment(self, environment: Mapping[str, str]) -> None:
        """Write the variables to `environment_file`, which only its owner can read, for commands
        that are run by hand."""
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()]
        self.folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(self.environment_file, flags, 0o600), "w", encoding="utf-8") as file:
            file.writelines(lines)

    def on_free_ports(self) -> "Installation":
        """This installation, with free ports instead of ports in use."""
        site = free_port(self.site_port)
        return replace(
            self,
            site_port=site,
            marketplace_port=free_port(self.marketplace_port, other_than=site),
        )


def is_free(port: int) -> bool:
    """Whether no process listens on the port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def free_port(preferred: int, *, other_than: int = 0) -> int:
    """The preferred port, or any free port if it is in use or equals `other_than`."""
    if preferred != other_than and is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with the changes in `extra`.

    DJANGO_SETTINGS_MODULE is removed, as each command chooses the settings of its own site.
    """
    inherited = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    return {**inherited, **extra}


def manage(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a management command and return its output; raises ProcessFailed if it fails."""
    finished = subprocess.run(
        [sys.executable, str(MANAGE), *arguments],
        env=clean_environment(environment),
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        last = (finished.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise ProcessFailed(f"`manage.py {arguments[0]}` failed: {last}")
    return finished.stdout


def make_workers(
    names: Sequence[str], *, country: str, approved: int, rate: int, environment: Mapping[str, str]
) -> list[str]:
    """Create workers at the local marketplace; return their sign-in links in the same order."""
    options = ["--country", country, "--approved", str(approved), "--rate", str(rate), "--json"]
    lines = manage(["marketplace_worker", *names, *options], environment).splitlines()
    return [row["sign_in_url"] for row in map(json.loads, lines)]


@dataclass
class Child:
    """A child process and its log file."""

    name: str
    process: "subprocess.Popen[Any]"
    log: Path
    # Where this process's lines begin in the log.
    log_start: int = 0
    # Starts the process anew.
    begin: "Callable[[], subprocess.Popen[Any]] | None" = None
    # Times of the latest restarts, by the clock of `time.monotonic`.
    restarts: list[float] = field(default_factory=list)

    def wait_until_listening(self, url: str) -> None:
        """Wait until this process has said that it listens, and the URL answers.

        The answer alone may be that of another installation, which took the port meanwhile.
        """
        self._wait(lambda: LISTENING in self.log.read_bytes()[self.log_start :], "did not start")
        self.wait_until_ready(url)

    def wait_until_ready(self, url: str) -> None:
        """Wait until the URL answers.

        Raises ProcessFailed if the process ends, or if the URL does not answer in time.
        """
        self._wait(lambda: _answers(url), f"did not answer at {url}")

    def _wait(self, is_reached: Callable[[], bool], problem: str) -> None:
        # On a busy machine, a site may take a minute to start.
        end = time.monotonic() + 180
        while True:
            if self.process.poll() is not None:
                raise ProcessFailed(f"The {self.name} ended at once; {self.log} says why.")
            if is_reached():
                return
            if time.monotonic() > end:
                raise ProcessFailed(f"The {self.name} {problem}; see {self.log}.")
            time.sleep(0.1)

    def restart(self) -> None:
        """Start a process that has ended again; raises ProcessFailed if it ends again and again."""
        now = time.monotonic()
        self.restarts = [at for at in self.restarts if at > now - RESTARTS_WITHIN]
        if self.begin is None or len(self.restarts) >= MOST_RESTARTS:
            raise ProcessFailed(f"The {self.name} ends again and again. See {self.log}.")
        self.restarts.append(now)
        self.process = self.begin()

    def stop(self) -> None:
        """Terminate the process; kill it if it does not end in time."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _answers(url: str) -> bool:
    try:
        with requests.Session() as session:
            session.trust_env = False  # ignore proxies
            session.get(url, timeout=5, allow_redirects=False)
    except (requests.ConnectionError, requests.Timeout):
        return False  # a starting server may accept a connection before it can answer
    return True


@contextmanager
def child(
    name: str,
    arguments: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str],
    is_background: bool = False,
) -> Iterator[Child]:
    """Run a management command as a child process until the end of the `with` block.

    One in the background gets what the sites leave of a busy processor.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    before = NICE if is_background else []
    begin = partial(_start, [*before, *PROGRAM, *arguments], log, dict(environment))
    start = log.stat().st_size if log.exists() else 0
    running = Child(name, begin(), log, start, begin)
    try:
        yield running
    finally:
        running.stop()


def _start(
    command: Sequence[str], log: Path, environment: Mapping[str, str]
) -> "subprocess.Popen[Any]":
    # In its own process group, the child does not get the Ctrl-C. This process stops its children.
    with log.open("ab") as stream:
        return subprocess.Popen(
            command,
            env=clean_environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            process_group=0,
        )


@contextmanager
def sites_running(installation: Installation, environment: Mapping[str, str]) -> Iterator[None]:
    """Run both sites; enter the block when both answer. They start at the same time."""
    with (
        marketplace_running(installation, environment, waits=False) as marketplace,
        site_running(installation, environment),
    ):
        marketplace.wait_until_listening(f"{installation.marketplace_url}/healthz")
        yield


@contextmanager
def marketplace_running(
    installation: Installation, environment: Mapping[str, str], *, waits: bool = True
) -> Iterator[Child]:
    """Run the marketplace; enter the block when it answers, or at once."""
    arguments = ["marketplace", "--port", str(installation.marketplace_port)]
    log = installation.logs / "marketplace.log"
    with child("marketplace", arguments, log=log, environment=environment) as running:
        if waits:
            running.wait_until_listening(f"{installation.marketplace_url}/healthz")
        yield running


@contextmanager
def site_running(installation: Installation, environment: Mapping[str, str]) -> Iterator[Child]:
    """Run the requester site; enter the block when it answers.

    All migrations must be applied already.
    """
    arguments = ["serve", "--site-only", "--port", str(installation.site_port)]
    log = installation.logs / "site.log"
    with child("site", arguments, log=log, environment=environment) as running:
        running.wait_until_listening(f"{installation.site_url}/sign-in/")
        yield running


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block on SIGTERM and SIGHUP, as on Ctrl-C.

    The block can therefore stop its children in all three cases.
    """
    previous = {
        number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


LOCK, DATABASE = "in-use.lock", "campaigns.sqlite3"
# Of a folder that `serve` uses. Another name than that of a demonstration, which may be emptied.
SERVED = "serve.lock"


def is_demonstration(folder: Path) -> bool:
    """Whether `demo` created the folder."""
    return (folder / LOCK).exists()


def locked(folder: Path) -> None:
    """Lock the folder until this process ends; create it if it does not exist.

    The lock remains if the process replaces itself with another program. Raises ProcessFailed if
    another process has the lock, or if the folder has files and was not created by `demo`.
    """
    is_taken = folder.is_file() or (folder.exists() and any(folder.iterdir()))
    if is_taken and not is_demonstration(folder):
        raise ProcessFailed(f"{folder} was not created by `demo`, so nothing in it was changed.")
    _lock(folder, LOCK)


def locked_to_serve(folder: Path) -> None:
    """Lock a folder of one's own data until this process ends; create it if it does not exist.

    Raises ProcessFailed if another process serves it.
    """
    _lock(folder, SERVED)


def _lock(folder: Path, name: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ProcessFailed(f"{folder}: {error.strerror}.") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise ProcessFailed(
            f"{folder} is in use by another `demo` or `serve`; stop that one first."
        ) from error
    os.set_inheritable(handle, True)


def emptied(folder: Path) -> None:
    """Delete everything but the lock from a folder that this process has locked."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()
