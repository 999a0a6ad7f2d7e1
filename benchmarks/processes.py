"""The processes of a campaign for a benchmark: both sites and a reconciler, each with a counter of
its statements, on scratch databases; and the processor time that each has used."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks import counted
from benchmarks.harness import ROOT
from hits.local import Child, Installation, clean_environment, make_workers

TICKS = os.sysconf("SC_CLK_TCK")
MARKETPLACE, SITE, RECONCILER, DATABASE = "marketplace", "site", "reconciler", "database"


@dataclass(frozen=True)
class Cost:
    """Processor seconds by process, and statements of all processes."""

    seconds: Mapping[str, float]
    statements: int

    def __sub__(self, earlier: "Cost") -> "Cost":
        seconds = {name: used - earlier.seconds[name] for name, used in self.seconds.items()}
        return Cost(seconds, self.statements - earlier.statements)


def processor_seconds(pid: int) -> float:
    """The processor time of a process so far; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


@dataclass
class Processes:
    """The running processes."""

    places: Installation
    environment: dict[str, str]
    databases: tuple[str, ...] = ()
    children: dict[str, Child] = field(default_factory=dict)
    # The server's processes end with their connections, and their times with them.
    _server_seconds: dict[int, float] = field(default_factory=dict)

    def cost(self) -> Cost:
        """What the processes have used so far."""
        seconds = {
            name: processor_seconds(child.process.pid) for name, child in self.children.items()
        }
        counts = [counted.read(self.counts(name)) for name in self.children]
        return Cost({**seconds, DATABASE: self._database_seconds()}, sum(counts))

    def _database_seconds(self) -> float:
        """The processor time of the database server for these databases; 0 on SQLite, which works
        inside the other processes."""
        if self.databases:
            with connection.cursor() as cursor:
                names = ", ".join(["%s"] * len(self.databases))
                cursor.execute(
                    f"SELECT pid FROM pg_stat_activity WHERE datname IN ({names})", self.databases
                )
                for (pid,) in cursor.fetchall():
                    self._server_seconds[pid] = processor_seconds(pid)
        return sum(self._server_seconds.values())

    def counts(self, name: str) -> Path:
        return self.places.folder / f"{name}.statements"

    def ask(self, step: str, **arguments: Any) -> dict[str, Any]:
        """Let the reconciler run a step, and wait for its answer."""
        process = self.children[RECONCILER].process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"step": step, **arguments}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(self.children[RECONCILER].log.read_text()[-2000:])
        answer: dict[str, Any] = json.loads(line)
        return answer

    def fill_marketplace(self, *, hit_type: str, question: str, hits: int, slots: int) -> list[str]:
        """Insert HITs in bulk; return their ids."""
        arguments = ["-m", "benchmarks.marketplace_hits", hit_type, str(hits), str(slots), question]
        done = subprocess.run(
            [sys.executable, *arguments],
            env=clean_environment(self.environment),
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        ids: list[str] = json.loads(done.stdout)
        return ids

    def workers(self, count: int) -> list[str]:
        """Make workers at the marketplace who meet nocaps' requirements; return sign-in links."""
        names = [f"worker-{number}" for number in range(count)]
        return make_workers(
            names, country="US", approved=6000, rate=99, environment=self.environment
        )


@contextmanager
def running(vendor: str) -> Iterator[Processes]:
    """Run both sites and the reconciler on new databases of this vendor."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="benchmark-")))
        places = Installation(folder).on_free_ports()
        environment = places.environment() | {"LOG_LEVEL": "ERROR"}
        found = Processes(places, environment)
        if vendor == "postgresql":
            found.databases = tuple(stack.enter_context(_databases()))
            for variable, name in zip(
                ("DATABASE_URL", "MARKETPLACE_DATABASE_URL"), found.databases, strict=True
            ):
                server = os.environ["DATABASE_URL"].rpartition("/")[0]
                environment[variable] = f"{server}/{name}"
        for name, port in ((MARKETPLACE, places.marketplace_port), (SITE, places.site_port)):
            own = ["marketplace"] if name == MARKETPLACE else ["serve", "--site-only"]
            command = ["benchmarks/counted.py", str(found.counts(name)), *own, "--port", str(port)]
            if name == MARKETPLACE:
                stack.enter_context(_started(found, name, command))
                found.children[name].wait_until_ready(f"{places.marketplace_url}/healthz")
                environment |= places.keys(environment)
                steps = ["-m", "benchmarks.caption_cost_steps", str(found.counts(RECONCILER))]
                stack.enter_context(_started(found, RECONCILER, steps, has_pipes=True))
                found.ask("migrate")
            else:
                stack.enter_context(_started(found, name, command))
                found.children[name].wait_until_ready(f"{places.site_url}/sign-in/")
        yield found


@contextmanager
def _started(
    found: Processes, name: str, command: list[str], *, has_pipes: bool = False
) -> Iterator[None]:
    log = found.places.folder / f"{name}.log"
    with log.open("ab") as stream:
        process = subprocess.Popen(
            [sys.executable, *command],
            env=clean_environment(found.environment),
            cwd=ROOT,
            stdin=subprocess.PIPE if has_pipes else subprocess.DEVNULL,
            stdout=subprocess.PIPE if has_pipes else stream,
            stderr=stream,
            text=True,
            process_group=0,
        )
        found.children[name] = Child(name, process, log)
        try:
            yield
        finally:
            found.children[name].stop()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


@contextmanager
def _databases() -> Iterator[list[str]]:
    """Two empty databases on the server of DATABASE_URL; removed at the end."""
    names = [f"benchmark_{os.getpid()}_{name}" for name in (SITE, MARKETPLACE)]
    with connection.cursor() as cursor:
        try:
            for name in names:
                cursor.execute(f"CREATE DATABASE {name}")
            yield names
        finally:
            for name in names:
                cursor.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def spent(processes: Processes, action: Callable[[], Any]) -> tuple[Cost, Any]:
    """What the processes spend on an action, and its result."""
    before = processes.cost()
    result = action()
    return processes.cost() - before, result
