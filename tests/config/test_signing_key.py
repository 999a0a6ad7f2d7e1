"""The requester site's signing key: stored, or set for an address that others can reach."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.contrib.staticfiles.management.commands.runserver import Command as RunServer
from django.core.management import call_command
from django.core.management.base import CommandError

from hits.management.commands import serve
from tests.servers import free_port, stop, wait_until_ready

FILE_NAME = "requester-secret-key"
ROOT = Path(__file__).resolve().parents[2]
PRINT_KEY = "from django.conf import settings; print(settings.SECRET_KEY)"


def python(*arguments, folder=None, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in {"SECRET_KEY", "SITE_URL"}}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    if folder:
        environment["DATABASE_URL"] = f"sqlite:///{folder / 'site.sqlite3'}"
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
def test_processes_that_start_at_once_have_the_same_key(tmp_path):
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: python("-c", PRINT_KEY, folder=tmp_path), range(3)))

    assert {run.stdout for run in runs} == {f"{(tmp_path / FILE_NAME).read_text().strip()}\n"}


@pytest.mark.slow
def test_a_key_that_is_set_is_used_and_none_is_made(tmp_path):
    done = python("-c", PRINT_KEY, folder=tmp_path, SECRET_KEY=" set by the operator\n")

    assert done.stdout == "set by the operator\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_public_address_needs_a_key_that_is_set(tmp_path):
    done = python("manage.py", "check", folder=tmp_path, SITE_URL="https://captions.example.org")

    assert done.returncode != 0
    assert "SECRET_KEY: it is not set" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["serve", "--site-only", "--host", "0.0.0.0"],
        ["serve", "--site-only", "--host", "::"],
        ["serve", "--host", "0.0.0.0"],
        ["runserver", "--noreload", "0.0.0.0:0"],
        ["runserver", "--noreload", "0:0"],
        ["runserver", "--noreload", "-6", "[::]:0"],
    ],
)
def test_a_server_beyond_loopback_needs_a_key_that_is_set(settings, monkeypatch, command):
    settings.SECRET_KEY_IS_SET = False
    monkeypatch.setattr(serve, "create_server", lambda *_, **__: pytest.fail("it listens"))
    monkeypatch.setattr(RunServer, "run", lambda *_, **__: pytest.fail("it listens"))

    with pytest.raises(CommandError, match="SECRET_KEY is not set, and other machines") as refused:
        call_command(*command)

    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.slow
def test_a_wsgi_server_needs_a_key_that_is_set(tmp_path):
    without = python("-c", "import config.wsgi", folder=tmp_path)
    with_key = python("-c", "import config.wsgi", folder=tmp_path, SECRET_KEY="x" * 50)

    assert without.stderr.startswith("SECRET_KEY is not set, which a WSGI server needs")
    assert with_key.returncode == 0, with_key.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["serve", "runserver"])
def test_a_server_on_this_machine_needs_none(tmp_path, command):
    port = free_port()
    arguments = {
        "serve": ["serve", "--site-only", "--port", str(port)],
        "runserver": ["runserver", "--noreload", str(port)],
    }[command]
    environment = {k: v for k, v in os.environ.items() if k not in {"SECRET_KEY", "SITE_URL"}}
    environment["DATABASE_URL"] = f"sqlite:///{tmp_path / 'site.sqlite3'}"
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_ready(f"http://127.0.0.1:{port}/sign-in/", process)
    finally:
        stop(process)

    assert (tmp_path / FILE_NAME).exists()
