"""The signing key: set or generated, and the addresses that are allowed without one."""

import os
import re
import secrets
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotate.site import secret_key
from annotate.site.secret_key import FILE_NAME, check_listening, is_loopback, kept_key
from tests.servers import free_port, stop, wait_until_ready

ROOT = Path(__file__).resolve().parents[2]
PRINT_KEY = "from django.conf import settings; print(settings.SECRET_KEY)"


def python(*arguments, folder=None, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in {"SECRET_KEY", "SITE_URL"}}
    environment["DJANGO_SETTINGS_MODULE"] = "annotate.settings"
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


def test_the_key_is_made_once_for_its_owner_alone(tmp_path):
    path = tmp_path / "new" / FILE_NAME

    first, second = kept_key(path), kept_key(path)

    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [FILE_NAME]


def test_two_installations_have_different_keys(tmp_path):
    assert kept_key(tmp_path / "one") != kept_key(tmp_path / "two")


def test_whoever_is_overtaken_takes_the_key_of_the_first(tmp_path, monkeypatch):
    path = tmp_path / FILE_NAME
    make, overtaking = secrets.token_urlsafe, []

    def token(size):
        if not overtaking:
            overtaking.append(True)
            overtaking.append(kept_key(path))
        return make(size)

    monkeypatch.setattr(secret_key.secrets, "token_urlsafe", token)

    assert kept_key(path) == overtaking[1]
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_processes_that_start_at_once_have_the_same_key(tmp_path):
    with ThreadPoolExecutor(3) as pool:
        runs = list(pool.map(lambda _: python("-c", PRINT_KEY, folder=tmp_path), range(3)))

    assert {run.stdout for run in runs} == {f"{(tmp_path / FILE_NAME).read_text().strip()}\n"}


@pytest.mark.parametrize("content", ["", "short\n", "\xff" * 60])
def test_a_file_without_a_whole_key_is_refused(tmp_path, content):
    path = tmp_path / FILE_NAME
    path.write_text(content, encoding="latin-1")
    path.chmod(0o600)

    with pytest.raises(ImproperlyConfigured, match=re.escape(str(path))):
        kept_key(path)


def test_a_key_that_other_users_can_read_is_refused(tmp_path):
    path = tmp_path / FILE_NAME
    kept_key(path)
    path.chmod(0o640)

    with pytest.raises(ImproperlyConfigured, match="chmod 600"):
        kept_key(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ImproperlyConfigured, match="Set SECRET_KEY"):
        kept_key(tmp_path / "file" / FILE_NAME)


def test_a_key_that_is_set_is_used_and_none_is_made(tmp_path):
    done = python("-c", PRINT_KEY, folder=tmp_path, SECRET_KEY=" set by the operator\n")

    assert done.stdout == "set by the operator\n"
    assert list(tmp_path.iterdir()) == []


def test_a_public_address_needs_a_key_that_is_set(tmp_path):
    done = python("manage.py", "check", folder=tmp_path, SITE_URL="https://captions.example.org")

    assert done.returncode != 0
    assert "SECRET_KEY is not set" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.0.0.2", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("0", False),
        ("::", False),
        ("", False),
        ("192.0.2.7", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host, expected):
    assert is_loopback(host) is expected


def test_a_name_that_nobody_knows_is_not_loopback():
    assert not is_loopback("no-such-name.invalid")


def test_a_set_key_lets_a_site_listen_anywhere():
    check_listening("0.0.0.0", key_is_set=True)

    with pytest.raises(ImproperlyConfigured, match=r"can reach 0\.0\.0\.0"):
        check_listening("0.0.0.0", key_is_set=False)


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
def test_a_server_beyond_loopback_needs_a_key_that_is_set(tmp_path, command):
    done = python("manage.py", *command, folder=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: SECRET_KEY is not set, and other machines")
    assert len(done.stderr.splitlines()) == 1


def test_a_wsgi_server_needs_a_key_that_is_set(tmp_path):
    without = python("-c", "import annotate.wsgi", folder=tmp_path)
    with_key = python("-c", "import annotate.wsgi", folder=tmp_path, SECRET_KEY="x" * 50)

    assert "ImproperlyConfigured: SECRET_KEY is not set, which a WSGI server" in without.stderr
    assert with_key.returncode == 0, with_key.stderr


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
