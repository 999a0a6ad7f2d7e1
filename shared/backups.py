"""Backups of one site: its database and, if it has any, its files."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

DATABASE, MEDIA, CONTENTS = "database", "media", "backup.json"


class BackupRefused(Exception):
    """The backup cannot be written or restored; the message says why."""


def write_backup(folder: Path, *, media: Path | None, at: datetime) -> None:
    """Write the database, and then the files, to a new folder while the site runs.

    Files are added before the rows that name them, so the copy has each file of its rows. The list
    of contents is written last: a folder without it is not a backup. Raises BackupRefused.
    """
    if folder.exists() and any(folder.iterdir()):
        raise BackupRefused(f"{folder} is not empty. Name a new folder.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    dump = folder / DATABASE
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        with closing(sqlite3.connect(dump)) as copy:
            connection.connection.backup(copy)
    else:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={dump}")
    if media is not None and media.is_dir():
        shutil.copytree(media, folder / MEDIA)
    contents = {**_facts(), "made_at": at.isoformat(), "sha256": _digest(dump)}
    (folder / CONTENTS).write_text(json.dumps(contents, indent=2) + "\n", encoding="utf-8")


def restore_backup(folder: Path, *, media: Path | None) -> datetime:
    """Fill this empty database, and the folder of files, from a backup; return its time.

    The restored database has the migrations of the backup: migrate it afterwards. Raises
    BackupRefused, and then changes nothing.
    """
    contents = _contents(folder)
    if connection.introspection.table_names():
        raise BackupRefused("The database is not empty. Create an empty one, and name that.")
    files = folder / MEDIA
    if media is not None and files.is_dir() and media.is_dir() and any(media.iterdir()):
        raise BackupRefused(f"{media} is not empty. Name an empty folder.")
    dump = folder / DATABASE
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(dump)) as copy:
            copy.backup(connection.connection)
    else:
        name = str(connection.settings_dict["NAME"])
        _run("pg_restore", "--no-owner", "--single-transaction", f"--dbname={name}", str(dump))
    if media is not None and files.is_dir():
        shutil.copytree(files, media, dirs_exist_ok=True)
    return datetime.fromisoformat(contents["made_at"])


def _contents(folder: Path) -> dict[str, Any]:
    """The list of contents, if the backup is complete and fits this site."""
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        is_whole = contents["sha256"] == _digest(folder / DATABASE)
    except (OSError, ValueError, KeyError) as error:
        raise BackupRefused(f"{folder} is not a complete backup.") from error
    if not is_whole:
        raise BackupRefused(f"The database in {folder} was changed after the backup.")
    for name in ("site", "engine"):
        if contents.get(name) != _facts()[name]:
            raise BackupRefused(
                f"The {name} of the backup is {contents.get(name)}, and this is {_facts()[name]}."
            )
    return dict(contents)


def _facts() -> dict[str, Any]:
    """What a backup says about its site."""
    applied: dict[str, str] = {}
    for app, migration in sorted(MigrationRecorder(connection).applied_migrations()):
        applied[app] = migration
    site = settings.ROOT_URLCONF.partition(".")[0]
    return {"site": site, "engine": connection.vendor, "migrations": applied}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _run(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL for this database. The password is not in its arguments."""
    given = connection.settings_dict
    access = {
        "PGHOST": given["HOST"],
        "PGPORT": str(given["PORT"]),
        "PGUSER": given["USER"],
        "PGPASSWORD": given["PASSWORD"],
        "PGDATABASE": str(given["NAME"]),
    }
    environment = {**os.environ, **{name: value for name, value in access.items() if value}}
    try:
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True
        )
    except FileNotFoundError as error:
        raise BackupRefused(
            f"There is no program {program}. Install PostgreSQL's client programs of the server's "
            "version, for example the package postgresql-client."
        ) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it printed nothing"]
        raise BackupRefused(f"{program} failed: {lines[0]}")
