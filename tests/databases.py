"""Give each test process its own database: a copy of a template that has all tables.

Creating the tables takes longer than most tests. The first process that needs the template makes
it while others wait, and it stays until a migration or a model changes. With `--create-db`, each
process migrates an empty database instead.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, connections

SITE = settings.SETTINGS_MODULE.partition(".")[0]


class Server(Protocol):
    """Where databases are, by their names."""

    def locked(self) -> AbstractContextManager[None]:
        """Wait until no other process makes or copies a template."""

    def names(self, prefix: str) -> list[str]: ...

    def rename(self, old: str, new: str) -> None: ...

    def copy(self, source: str, target: str) -> None: ...

    def drop(self, name: str) -> None: ...


class Files:
    """SQLite: a database's name is the path of its file."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        lock = Path(connection.settings_dict["TEST"]["NAME"]).with_name("test-databases.lock")
        with lock.open("w") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def names(self, prefix: str) -> list[str]:
        path = Path(prefix)
        return [str(file) for file in path.parent.glob(f"{path.name}*")]

    def rename(self, old: str, new: str) -> None:
        Path(old).rename(new)

    def copy(self, source: str, target: str) -> None:
        shutil.copyfile(source, target)

    def drop(self, name: str) -> None:
        # The other two remain if a thread, for example a server's, still has the file open.
        for ending in ("", "-shm", "-wal"):
            Path(f"{name}{ending}").unlink(missing_ok=True)


class PostgreSQL:
    @contextmanager
    def locked(self) -> Iterator[None]:
        with connection._nodb_cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(hashtext('test databases'))")
            yield

    def names(self, prefix: str) -> list[str]:
        with connection._nodb_cursor() as cursor:
            cursor.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix]
            )
            return [name for (name,) in cursor.fetchall()]

    def rename(self, old: str, new: str) -> None:
        self._run(f'ALTER DATABASE "{old}" RENAME TO "{new}"')

    def copy(self, source: str, target: str) -> None:
        self.drop(target)
        self._run(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')

    def drop(self, name: str) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{name}"')

    def _run(self, statement: str) -> None:
        with connection._nodb_cursor() as cursor:
            cursor.execute(statement)


SERVERS: dict[str, Callable[[], Server]] = {"sqlite": Files, "postgresql": PostgreSQL}


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """pytest-django uses the copy as it finds it."""
    return True


@pytest.fixture(scope="session")
def own_database(
    django_test_environment: None, django_db_blocker: Any, django_db_createdb: bool
) -> Iterator[None]:
    """This process's test database, which is dropped at the end."""
    server = SERVERS[connection.vendor]()
    test = connection.settings_dict["TEST"]
    name = Path(test["NAME"] or f"test_{connection.settings_dict['NAME']}")
    own = str(name.with_stem(f"{name.stem}_{os.getpid()}"))
    with django_db_blocker.unblock(), server.locked():
        if not django_db_createdb:
            server.copy(_template(server, name), own)
    test["NAME"] = own
    yield
    with django_db_blocker.unblock():
        connections.close_all()
        server.drop(own)


def _template(server: Server, name: Path) -> str:
    """Name of the template, which is made if there is none."""
    every = name.with_stem(f"{name.stem}_template_{SITE}_")
    template = str(every.with_stem(every.stem + fingerprint()))
    existing = server.names(str(every.with_suffix("")))
    if template not in existing:
        for outdated in existing:
            server.drop(outdated)
        unfinished = str(name.with_stem(f"{name.stem}_unfinished_{SITE}"))
        _migrate(unfinished)
        server.rename(unfinished, template)
    return template


def fingerprint() -> str:
    """Differs between two versions of migrations or models."""
    digest = sha256(django.__version__.encode())
    for app in apps.get_app_configs():
        for file in sorted(Path(app.path).rglob("*.py")):
            place = file.relative_to(app.path).parts[0]
            if place.startswith("models") or place == "migrations":
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _migrate(name: str) -> None:
    """Create a database with all tables."""
    original = connection.settings_dict["NAME"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connection.settings_dict["TEST"], "NAME", name)
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        connection.creation.destroy_test_db(original, verbosity=0, keepdb=True)


def database_url() -> str:
    """URL of this test's database, for other processes."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    user, password = quote(database["USER"]), quote(database["PASSWORD"])
    host, port = database["HOST"], database["PORT"] or 5432
    return f"postgres://{user}:{password}@{host}:{port}/{quote(str(database['NAME']))}"


def rows(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()
