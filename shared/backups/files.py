"""Backups of one site: its database and, if it has any, its files."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from psycopg2.extensions import make_dsn

DATABASE, MEDIA, CONTENTS = "database", "media", "backup.json"
# A finished file never has this suffix: it gets its own name when it is complete.
UNFINISHED = ".part"
# The name of a backup among others.
NAMED = "%Y-%m-%dT%H%M%SZ"


class BackupRefused(Exception):
    """The backup cannot be written or restored; the message says why."""


class Written(NamedTuple):
    """How large a backup is."""

    database_bytes: int = 0
    files: int = 0
    files_bytes: int = 0


def write_backup(folder: Path, *, media: Path | None, at: datetime) -> Written:
    """Write the database, and then the files, to a new folder while the site runs; read them back,
    and return how large they are.

    Files are added before the rows that name them, so the copy has each file of its rows. The list
    of contents is written last: a folder without it is not a backup. Raises BackupRefused, and then
    leaves nothing in the folder.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BackupRefused(f"{folder} is not empty. Name a new folder.")
    if media is not None and folder.resolve().is_relative_to(media.resolve()):
        # It would copy itself into itself.
        raise BackupRefused(f"{folder} is in the folder of the site's files. Name another one.")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    with _emptied_on_failure(folder):
        dump = folder / DATABASE
        dump.touch(mode=0o600)
        if connection.vendor == "sqlite":
            connection.ensure_connection()
            try:
                with closing(sqlite3.connect(dump)) as copy:
                    connection.connection.backup(copy)
            except sqlite3.Error as error:
                raise BackupRefused(f"The database cannot be copied: {error}.") from error
        else:
            options = ("--format=custom", "--no-owner", "--no-privileges", f"--file={dump}")
            _run("pg_dump", *options, _database())
        if media is not None and media.is_dir():
            _copy_files(media, folder / MEDIA)
        written = _read_back(folder)
        contents = {**_facts(), "made_at": at.isoformat(), "sha256": _digest(dump)}
        (folder / CONTENTS).write_text(json.dumps(contents, indent=2) + "\n", encoding="utf-8")
    return written


def delete_older(parent: Path, *, made: Path, keep: int) -> int:
    """Delete all but the newest of this site's backups that are named after their time in this
    folder; return how many. `made` is the newest: a later name is of a clock that was ahead.

    Others are not touched: a backup with its own name was made to be kept, the other site has its
    own number, and nobody says that a folder without a list of contents is a backup.
    """
    own = (path.parent for path in parent.glob(f"*/{CONTENTS}") if _is_own(path))
    backups = sorted(own, key=lambda folder: (folder <= made, folder))
    for folder in backups[:-keep]:
        # Without its list, a folder whose deletion is interrupted does not count as a backup.
        (folder / CONTENTS).unlink(missing_ok=True)
        # Another process may delete the same files at the same time.
        while folder.exists():
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
    return len(backups[:-keep])


def folder_in(parent: Path, at: datetime) -> Path:
    """A new folder among others, named after the time."""
    return parent / f"{at:{NAMED}}"


def _is_own(contents: Path) -> bool:
    """Whether this list of contents is of a backup of this site that is named after its time."""
    try:
        datetime.strptime(contents.parent.name, NAMED)
        site = json.loads(contents.read_text(encoding="utf-8"))["site"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(site == settings.SITE_NAME)


def _read_back(folder: Path) -> Written:
    """Read everything in the backup; raises BackupRefused, or OSError."""
    dump = folder / DATABASE
    if connection.vendor == "sqlite":
        try:
            with closing(sqlite3.connect(f"{dump.absolute().as_uri()}?mode=ro", uri=True)) as copy:
                result = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        except sqlite3.Error as error:
            result = str(error)
        if result != "ok":
            raise BackupRefused(f"The database's copy cannot be read back: {result}.")
    else:
        # Without a database, pg_restore reads everything and writes the SQL.
        _run("pg_restore", f"--file={os.devnull}", str(dump))
    sizes = [_read(path) for path in (folder / MEDIA).rglob("*") if path.is_file()]
    return Written(dump.stat().st_size, len(sizes), sum(sizes))


def _read(path: Path) -> int:
    """The number of bytes that can be read from the file."""
    with path.open("rb") as file:
        return sum(map(len, iter(partial(file.read, 1 << 20), b"")))


def restore_backup(folder: Path, *, media: Path | None) -> datetime:
    """Fill this empty database, and the folder of files, from a backup; return its time.

    The restored database has the migrations of the backup: migrate it afterwards. Raises
    BackupRefused, and then changes nothing: the files are copied first, and the database is filled
    by one transaction.
    """
    made_at = _checked(folder)
    if connection.introspection.table_names():
        raise BackupRefused("The database is not empty. Create an empty one, and name that.")
    files = folder / MEDIA
    if media is None or not files.is_dir():
        _fill_database(folder / DATABASE)
    else:
        if media.is_dir() and any(media.iterdir()):
            raise BackupRefused(f"{media} is not empty. Name an empty folder.")
        media.mkdir(parents=True, exist_ok=True)
        with _emptied_on_failure(media):
            _copy_files(files, media)
            _fill_database(folder / DATABASE)
    return made_at


def _fill_database(dump: Path) -> None:
    if connection.vendor == "sqlite":
        try:
            with closing(sqlite3.connect(dump)) as copy:
                copy.backup(connection.connection)
        except sqlite3.Error as error:
            raise BackupRefused(f"The database cannot be restored: {error}.") from error
    else:
        _run("pg_restore", "--no-owner", "--single-transaction", _database(), str(dump))


@contextmanager
def _emptied_on_failure(folder: Path) -> Iterator[None]:
    """Delete everything in the folder, which was empty, if the block fails."""
    try:
        yield
    except BaseException:
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        raise


def _copy_files(source: Path, target: Path) -> None:
    """Copy a folder that changes meanwhile: without files that are being written, and without what
    is deleted before its turn. Raises BackupRefused."""
    try:
        # From the bottom up: a folder's own rights may forbid to write in it.
        for folder, _, names in os.walk(source, topdown=False, onerror=_refuse, followlinks=True):
            copy = target / Path(folder).relative_to(source)
            copy.mkdir(parents=True, exist_ok=True)
            for name in names:
                if not name.endswith(UNFINISHED):
                    _copy_if_there(Path(folder, name), copy / name)
            with suppress(FileNotFoundError):
                shutil.copymode(folder, copy)
    except OSError as error:
        reason = error.strerror or str(error)
        raise BackupRefused(f"{error.filename} cannot be copied: {reason}") from error


def _refuse(error: OSError) -> None:
    """Raise the error of a folder that cannot be listed, unless it was deleted."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _copy_if_there(source: Path, target: Path) -> None:
    try:
        shutil.copy2(source, target)
    except FileNotFoundError:
        # A file may be deleted and written again at once. A link that leads nowhere is an error.
        if source.is_symlink():
            raise


def _checked(folder: Path) -> datetime:
    """The time of the backup, if it is complete and fits this site; raises BackupRefused."""
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        made_at = datetime.fromisoformat(contents["made_at"])
        migrations = set(contents["migrations"].items())
        is_whole = contents["sha256"] == _digest(folder / DATABASE)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupRefused(f"{folder} is not a complete backup.") from error
    if not is_whole:
        raise BackupRefused(f"The database in {folder} was changed after the backup.")
    for name in ("site", "engine"):
        if contents.get(name) != _facts()[name]:
            raise BackupRefused(
                f"The {name} of the backup is {contents.get(name)}, and this is {_facts()[name]}."
            )
    known = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    if unknown := sorted(migrations - known.keys()):
        app, migration = unknown[0]
        raise BackupRefused(
            f"The backup is of another version of the site: it has the migration {migration} "
            f"of {app}, which this version does not know. Restore it with its own version."
        )
    return made_at


def _facts() -> dict[str, Any]:
    """What a backup says about its site."""
    applied: dict[str, str] = {}
    for app, migration in sorted(MigrationRecorder(connection).applied_migrations()):
        applied[app] = migration
    return {"site": settings.SITE_NAME, "engine": connection.vendor, "migrations": applied}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _database() -> str:
    """The argument by which a program of PostgreSQL connects as the site does, with its options but
    without the password."""
    given = connection.get_connection_params()
    left_out = {"password", "cursor_factory"}
    options = {name: value for name, value in given.items() if name not in left_out}
    return f"--dbname={make_dsn(**options)}"


def _run(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL. The password is not in its arguments."""
    password = str(connection.settings_dict["PASSWORD"])
    environment = {**os.environ, **({"PGPASSWORD": password} if password else {})}
    try:
        finished = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise BackupRefused(
            f"There is no program {program}. Install PostgreSQL's client programs of the server's "
            "version, for example the package postgresql-client."
        ) from error
    if finished.returncode:
        lines = finished.stderr.strip().splitlines() or ["it printed nothing"]
        raise BackupRefused(f"{program} failed: {lines[0]}")
