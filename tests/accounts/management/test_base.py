"""Behaviour that all commands share: they create tables and report errors in one line."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.servers import free_port

# The first command creates all tables.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


def run(database: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run_with(f"sqlite:///{database}", *arguments)


def run_with(database_url: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "DATABASE_URL": database_url}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """A new database, and what its first command came to."""
    database = tmp_path_factory.mktemp("databases") / "new.sqlite3"
    return database, run(database, "first_admin")


@pytest.fixture
def database(first) -> Path:
    """A database that has its tables."""
    return first[0]


def test_the_first_command_finds_its_tables(first):
    _, done = first

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("User name: admin, password: ")


def test_a_name_that_is_not_utf_8_is_refused_in_a_line(database):
    done = run(database, "publish", os.fsdecode(b"caf\xe9"))

    assert done.stderr == "CommandError: 'caf\\udce9' is not UTF-8 text.\n"


def test_a_reader_that_has_had_enough_ends_a_command_quietly(database):
    read, write = os.pipe()
    os.close(read)

    done = subprocess.run(
        [sys.executable, "manage.py", "help"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": f"sqlite:///{database}"},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_database_of_another_version_is_left_alone(tmp_path):
    database = tmp_path / "old.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE annotate_campaign (id integer)")
    connection.close()

    done = run(database, "sync")

    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database is not up to date")
    assert len(done.stderr.splitlines()) == 1


def test_a_database_server_that_does_not_answer_is_one_line():
    done = run_with(f"postgres://nobody@127.0.0.1:{free_port()}/none", "sync")

    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database failed: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_name_is_one_line_and_exit_status_one(database):
    done = run(database, "publish", "nobody")

    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "command",
    [
        ["export_captions", "nobody", "--out", "nowhere"],
        ["create_campaign", "nowhere.toml"],
        ["import_openimages", "--classes", "nowhere.csv"],
    ],
)
def test_each_command_refuses_a_wrong_name_in_one_line(command):
    with pytest.raises(CommandError) as refused:
        call_command(*command)

    assert len(str(refused.value).splitlines()) == 1
