"""An installation of several processes, each of which can be killed and started again.

Used by the benchmarks that replay a whole campaign, and that let parts of one fail.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg2

from benchmarks.harness import ROOT
from hits.local import HOST, NICE, Child, ProcessFailed, clean_environment, free_port

PATIENCE = 60.0
TICKS = os.sysconf("SC_CLK_TCK")
# PostgreSQL refuses to run as root, so root runs it as this user.
SERVER_USER = "postgres"


@dataclass(frozen=True)
class Program:
    """A command line after `python`, the variables of its environment, and the address that
    answers once it is ready."""

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: str = ""
    # Whether it gets only what others leave of a busy processor, as in production.
    is_background: bool = False


@dataclass
class Usage:
    """The resources that a process and its predecessors of the same name used."""

    seconds: float = 0.0
    peak_mb: float = 0.0
    samples: list[float] = field(default_factory=list)


class Fleet:
    """Processes by name. Their use of processor and memory is added up over restarts."""

    def __init__(self, folder: Path, programs: Mapping[str, Program]) -> None:
        self.folder, self.programs = folder, dict(programs)
        self.children: dict[str, Child] = {}
        self.usage: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def start(self, name: str, *, waits: bool = True) -> None:
        """Start a process that does not run; raises ProcessFailed if it does not get ready."""
        program, log = self.programs[name], self.folder / f"{name.replace(' ', '-')}.log"
        with log.open("ab") as stream:
            process = subprocess.Popen(
                [*(NICE if program.is_background else []), sys.executable, *program.arguments],
                env=clean_environment(program.environment),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        with self._lock:
            self.children[name] = Child(name, process, log)
            self.usage.setdefault(name, Usage())
        if waits:
            self.wait_until_ready(name)

    def wait_until_ready(self, name: str) -> None:
        """Wait until a running process answers, if it has an address."""
        if ready := self.programs[name].ready:
            self.children[name].wait_until_ready(ready)

    def kill(self, name: str) -> None:
        """End a process and its children at once, without a chance to clean up."""
        child = self.children[name]
        self._close_account(name)
        os.killpg(child.process.pid, signal.SIGKILL)
        child.process.wait()

    def is_running(self, name: str) -> bool:
        return name in self.children and self.children[name].process.poll() is None

    def stop(self) -> None:
        """End all processes, the latest first."""
        for name in reversed(list(self.children)):
            self._close_account(name)
            child = self.children[name]
            child.stop()
            # Celery's workers have children, which are killed if they outlive it.
            if child.process.poll() is not None:
                _kill_group(child.process.pid)

    def sample(self) -> None:
        """Note each process's memory."""
        with self._lock:
            for name, child in self.children.items():
                if megabytes := resident_megabytes(child.process.pid):
                    usage = self.usage[name]
                    usage.samples.append(megabytes)
                    usage.peak_mb = max(usage.peak_mb, megabytes)

    def seconds(self) -> dict[str, float]:
        """The processor seconds of each process so far."""
        with self._lock:
            return {
                name: self.usage[name].seconds + family_seconds(child.process.pid)
                for name, child in self.children.items()
            }

    def logs(self, last: int = 1500) -> str:
        """The end of each process's log."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {file.name}\n{file.read_text()[-last:]}" for file in files)

    def _close_account(self, name: str) -> None:
        if self.is_running(name):
            self.usage[name].seconds += family_seconds(self.children[name].process.pid)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def family_seconds(pid: int) -> float:
    """The processor seconds of a process and its children, those that have ended included."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = sum(map(int, fields[11:15])) / TICKS
    return own + sum(family_seconds(child) for child in _children(pid))


def _children(pid: int) -> list[int]:
    try:
        pids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(child) for child in pids]


def resident_megabytes(pid: int) -> float:
    """The memory of a process and its children; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    match = re.search(r"VmRSS:\s+(\d+)", status)
    own = int(match[1]) * 1024 / 1e6 if match else 0.0
    return own + sum(resident_megabytes(child) for child in _children(pid))


@dataclass
class OwnPostgresql:
    """A PostgreSQL server with its data in its own folder."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None
    # The processor seconds of the servers that were killed.
    earlier: float = 0.0

    @property
    def url(self) -> str:
        """Its address without the name of a database."""
        return f"postgres://{SERVER_USER}@{HOST}:{self.port}"

    def create(self) -> None:
        """Make the folder; raises ProcessFailed if PostgreSQL is not installed."""
        self.folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(self.folder, SERVER_USER, SERVER_USER)
        options = ["--username", SERVER_USER, "--auth=trust", "--encoding=UTF8", "--no-sync"]
        self._run("initdb", "--pgdata", str(self.folder), *options)

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        # Durable against killed processes; a benchmark does not cut the machine's power.
        options = [f"--port={self.port}", "--fsync=off", f"--unix_socket_directories={self.folder}"]
        options.append("--random_page_cost=1.1")  # as the deployments set it
        self.process = subprocess.Popen(
            _as_server_user([_program("postgres"), "-D", str(self.folder), "-h", HOST, *options]),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg2.connect(f"{self.url}/postgres", connect_timeout=5).close()
            except psycopg2.OperationalError as error:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise ProcessFailed(f"PostgreSQL did not start: {error}") from error
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the server and all its processes at once."""
        assert self.process is not None
        self.earlier += family_seconds(self.process.pid)
        # Its processes have their own session if `setpriv` started it, so pg_ctl ends them.
        self._run("pg_ctl", "stop", "--pgdata", str(self.folder), "--mode=immediate", "--wait")
        self.process.wait()

    def execute(self, statement: str) -> None:
        connection = psycopg2.connect(f"{self.url}/postgres")
        connection.autocommit = True
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        finally:
            connection.close()

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def seconds(self) -> float:
        """The processor seconds of the server's processes so far."""
        return self.earlier + (family_seconds(self.process.pid) if self.process else 0.0)

    def cut_connections(self) -> None:
        """End every other connection to the server."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            _as_server_user([_program(program), *arguments]), capture_output=True, text=True
        )
        if done.returncode:
            raise ProcessFailed(f"`{program}` failed: {done.stderr.strip()}")


@contextmanager
def own_postgresql(folder: Path) -> Iterator[OwnPostgresql]:
    """Run a PostgreSQL server with its data in this folder, which must not exist yet."""
    server = OwnPostgresql(folder, free_port(0))
    server.create()
    server.start()
    try:
        yield server
    finally:
        if server.is_running:
            server.kill()


@dataclass
class OwnRedis:
    """A Redis server that keeps its data in a folder."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise ProcessFailed("There is no redis-server on the PATH.")
        options = ["--bind", HOST, "--dir", str(self.folder), "--appendonly", "yes", "--save", ""]
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@contextmanager
def own_redis(folder: Path) -> Iterator[OwnRedis]:
    """Run a Redis server with its data in this folder."""
    folder.mkdir()
    server = OwnRedis(folder, free_port(0))
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _as_server_user(command: list[str]) -> list[str]:
    if os.getuid() != 0:
        return command
    return [
        "setpriv",
        f"--reuid={SERVER_USER}",
        f"--regid={SERVER_USER}",
        "--init-groups",
        *command,
    ]


def _program(name: str) -> str:
    """The path of a program of PostgreSQL, which Debian does not put on the PATH."""
    program = shutil.which(name)
    if program is None:
        places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
        if not places:
            raise ProcessFailed(f"There is no {name} on this machine: install PostgreSQL.")
        program = str(places[-1])
    return program
