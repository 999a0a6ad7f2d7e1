"""manage.py runs the commands of both sites, also several at once on a new database."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import psycopg2
import pytest
from django.conf import settings
from django.core.management import ManagementUtility
from django.db import connection

from manage import settings_for
from tests.servers import PATIENCE, hear_interrupts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = sorted(
    path.stem for path in (ROOT / "marketplace").glob("**/management/commands/marketplace*.py")
)


def start(
    *arguments: str,
    stdin: int | None = None,
    stdout: int | IO[str] = subprocess.PIPE,
    **environ: str,
) -> "subprocess.Popen[str]":
    kept = {name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env={**kept, **environ}, text=True,
        stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, preexec_fn=hear_interrupts,
    )  # fmt: skip


def run(*arguments: str) -> str:
    process = start(*arguments)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out


@pytest.mark.parametrize("arguments", [["help"], ["help", "--commands"]])
def test_help_lists_the_commands_of_both_sites(arguments):
    listed = run(*arguments).split()

    assert [name for name in COMMANDS if listed.count(name) != 1] == []
    assert "sync" in listed


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_without_a_command_is_the_requesters_sites(arguments):
    assert settings_for(arguments) == "config.settings"


def test_help_explains_a_command_of_the_marketplace():
    assert "manage.py marketplace_people" in run("help", "marketplace_people")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_finds_each_command_of_the_marketplace(name):
    command = ManagementUtility(["manage.py"]).fetch_command(name)

    assert settings_for(["help", name]) == settings.SETTINGS_MODULE
    assert f"manage.py {name}" in command.create_parser("manage.py", name).format_help()


def test_help_explains_a_command_of_the_requesters_site():
    assert "manage.py sync" in run("help", "sync")


def test_a_misspelt_command_names_the_one_that_was_meant():
    process = start("help", "marketplace_wroker")

    assert "Did you mean marketplace_worker?" in process.communicate(timeout=PATIENCE)[1]


def test_an_interrupted_command_says_so_in_a_line(tmp_path):
    database = tmp_path / "new.sqlite3"
    # It waits for a name in its input.
    process = start("worker_data", "-", stdin=subprocess.PIPE, DATABASE_URL=f"sqlite:///{database}")
    while not database.exists():
        time.sleep(0.05)

    # Python ignores an interrupt in the finalizer of an object, so a second one may be needed.
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(3)

    assert process.communicate(timeout=PATIENCE) == ("", "Interrupted.\n")
    assert process.returncode == -signal.SIGINT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="This system has no /dev/full.")
def test_output_to_a_full_disk_ends_in_a_line():
    with Path("/dev/full").open("w") as full:
        process = start("help", stdout=full)
        _, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, err) == (1, "Error: No space left on device.\n")


@pytest.fixture
def new_database(tmp_path) -> Iterator[str]:
    """URL of an empty database of the same type as the tests' database."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path / 'new.sqlite3'}"
        return
    name = f"new_{uuid.uuid4().hex}"
    # By its own connection, since databases are not made in transactions.
    server = psycopg2.connect(**{**connection.get_connection_params(), "dbname": "postgres"})
    server.autocommit = True
    with server.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}"')
        base, _slash, _name = os.environ["MARKETPLACE_DATABASE_URL"].rpartition("/")
        yield f"{base}/{name}"
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    server.close()


@pytest.mark.django_db
def test_commands_that_begin_together_on_a_new_database_all_succeed(new_database):
    processes = [
        start("marketplace_requester", f"lab {n}", "--json", MARKETPLACE_DATABASE_URL=new_database)
        for n in range(3)
    ] + [start("marketplace_worker", "ann", "--json", MARKETPLACE_DATABASE_URL=new_database)]

    outcomes = [(each.communicate(timeout=PATIENCE), each.returncode) for each in processes]

    assert [(err, status) for (_out, err), status in outcomes if status] == []
    keys = {json.loads(out)["access_key"] for (out, _err), _status in outcomes[:3]}
    assert len(keys) == 3
