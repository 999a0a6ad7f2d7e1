"""The product as several processes: site, Celery worker and beat, with Redis and PostgreSQL.

The Redis and the PostgreSQL database belong to the test run.
"""

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2
from django.db import connection as tested

from tests.hits.marketplace_process import ROOT, MarketplaceProcess
from tests.servers import PATIENCE, answers, free_port, running

REQUEST_RELEASE = """
from django.utils import timezone
from background.jobs.requests import request_job
from annotate.models import Campaign
request_job(
    kind="release",
    arguments={"name": "r1", "seed": 1},
    user=None,
    at=timezone.now(),
    about=Campaign.objects.get(),
)
"""
SERVER = os.environ.get("POSTGRESQL", "postgres://postgres@127.0.0.1:5432/postgres")

CELERY = ("-m", "celery", "-A", "config")


class ServiceAbsent(Exception):
    """PostgreSQL or Redis is not available; the message lists what was tried."""


@dataclass
class Installation:
    """The running processes with their URLs, database and log files."""

    folder: Path
    environment: dict[str, str]
    marketplace: MarketplaceProcess
    processes: dict[str, "subprocess.Popen[Any]"] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def media(self) -> Path:
        return Path(self.environment["MEDIA_ROOT"])

    def start(self, name: str, *arguments: str) -> "subprocess.Popen[Any]":
        """Start `python ARGUMENTS` and stop it at the end. Its connections have its name in
        PostgreSQL."""
        self.processes[name] = self.stack.enter_context(
            running(
                [sys.executable, *arguments],
                self.folder / f"{name}.log",
                {**self.environment, "PGAPPNAME": name},
                ROOT,
            )
        )
        return self.processes[name]

    def manage(self, *arguments: str) -> str:
        """Run `manage.py ARGUMENTS`; return its output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def delay(self, task: str, *arguments: object) -> None:
        """Queue a task for the Celery worker, as a page does."""
        module, name = task.rsplit(".", 1)
        self.manage("shell", "-c", f"from {module} import {name}; {name}.delay(*{arguments!r})")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the database, by a query."""
        connection = psycopg2.connect(self.environment["DATABASE_URL"])
        try:
            with connection.cursor() as cursor:
                cursor.execute(query)
                return cursor.fetchall()
        finally:
            connection.close()

    def number(self, query: str) -> int:
        return int(self.rows(query)[0][0])

    def wait_until(
        self,
        is_so: Callable[[], bool],
        what: str,
        seconds: float = PATIENCE,
        every: float = 0.2,
    ) -> None:
        """Wait for the processes; fails with their last log lines."""
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {seconds:g} s\n{self.logs()}")
            time.sleep(every)

    def logs(self, last: int = 3000) -> str:
        """The end of each process's log."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {file.name}\n{file.read_text()[-last:]}" for file in files)


@contextmanager
def running_installation(
    folder: Path, marketplace: MarketplaceProcess, *, watches: bool = False
) -> Iterator[Installation]:
    """Start all processes, optionally with `sync --watch`, and stop them at the end.

    Raises ServiceAbsent.
    """
    with prepared_installation(folder, marketplace) as installation:
        url = installation.environment["SITE_URL"]
        listen = f"--listen={urlsplit(url).netloc}"
        installation.start("site", "-m", "waitress", listen, "config.wsgi:application")
        installation.start("worker", *CELERY, "worker", "--concurrency", "2")
        start_beat(installation)
        if watches:
            installation.start("watch", "manage.py", "sync", "--watch", "1")
        installation.wait_until(lambda: answers(f"{url}/sign-in/"), "the site starts")
        yield installation


def start_beat(installation: Installation) -> None:
    schedule = str(installation.folder / "beat")
    installation.start("beat", *CELERY, "beat", "--schedule", schedule, "--pidfile", "")


@contextmanager
def prepared_installation(
    folder: Path, marketplace: MarketplaceProcess, **settings: str
) -> Iterator[Installation]:
    """An installation without processes, with Redis and an empty database. Raises ServiceAbsent."""
    keys = marketplace.requester("services")
    with ExitStack() as stack:
        database = stack.enter_context(scratch_database())
        broker = stack.enter_context(redis(folder))
        port = free_port()
        environment = {
            **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
            "DATABASE_URL": database,
            "SECRET_KEY": secrets.token_urlsafe(50),
            "CELERY_BROKER_URL": broker,
            "SITE_URL": f"http://127.0.0.1:{port}",
            "MTURK_ENDPOINT": "local",
            "MARKETPLACE_URL": marketplace.url,
            "AWS_ACCESS_KEY_ID": keys["access_key"],
            "AWS_SECRET_ACCESS_KEY": keys["secret_key"],
            "MEDIA_ROOT": str(folder / "media"),
            "SYNC_SECONDS": "1",
            **settings,
        }
        installation = Installation(folder, environment, marketplace, stack=stack)
        installation.manage("migrate", "--verbosity", "0")
        yield installation


@contextmanager
def scratch_database(name: str = "services") -> Iterator[str]:
    """URL of an empty PostgreSQL database, dropped afterwards."""
    name = f"{name}_{os.getpid()}"
    parts = urlsplit(SERVER)
    try:
        connection = psycopg2.connect(parts._replace(path="/postgres").geturl())
    except psycopg2.OperationalError as error:
        raise ServiceAbsent(f"no PostgreSQL at {parts.hostname}: {error}") from error
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
            try:
                yield parts._replace(path=f"/{name}").geturl()
            finally:
                cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        connection.close()


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """URL of a Redis server for this run without persistence."""
    program = shutil.which("redis-server")
    if program is None:
        raise ServiceAbsent("there is no redis-server on the PATH")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", "."]
    with running(command, folder / "redis.log", os.environ, ROOT):
        yield f"redis://127.0.0.1:{port}/5"


@contextmanager
def empty_database(folder: Path) -> Iterator[str]:
    """URL of an empty database of the kind that the tests use."""
    if tested.vendor == "sqlite":
        yield f"sqlite:///{folder / 'restored.sqlite3'}"
    else:
        with scratch_database("restored") as url:
            yield url
