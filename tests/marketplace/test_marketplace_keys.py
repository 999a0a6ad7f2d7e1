"""The signing key: generated once if none is set, and required for public addresses."""

import os
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from marketplace.keys import path_beside, stored_key
from marketplace.listening import ListeningRefused, check_address
from tests.servers import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SHOW_KEY = "from django.conf import settings; print(settings.SECRET_KEY)"
KEY = "k" * 50


def environment(folder: Path, **changes: str) -> dict[str, str]:
    named = {"DJANGO_SETTINGS_MODULE", "MARKETPLACE_SECRET_KEY"}
    return {
        **{name: text for name, text in os.environ.items() if name not in named},
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder / 'new.sqlite3'}",
        **changes,
    }


def run(arguments: list[str], environ: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=environ, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def test_processes_that_start_together_end_with_the_same_key(tmp_path):
    environ = environment(tmp_path, DJANGO_SETTINGS_MODULE="marketplace.settings")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SHOW_KEY],
            cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    keys = {process.communicate(timeout=PATIENCE)[0].strip() for process in processes}

    [kept] = tmp_path.glob("*.secret-key")
    assert keys == {kept.read_text().strip()}
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    # Nothing of the drafts is left, which would be keys that somebody might take for the one.
    assert list(tmp_path.iterdir()) == [kept]


def test_the_first_of_two_that_make_a_key_wins(tmp_path, monkeypatch):
    """The second process starts before the first has finished, and finds its key just in time."""
    path, link = tmp_path / "key", os.link

    def overtaken(source, target):
        monkeypatch.setattr(os, "link", link)
        winner.append(stored_key(path))
        link(source, target)

    winner: list[str] = []
    monkeypatch.setattr(os, "link", overtaken)

    assert stored_key(path) == winner[0]
    assert stored_key(path) == winner[0]
    assert list(tmp_path.iterdir()) == [path]


def test_two_databases_have_two_keys(tmp_path):
    first, second = (stored_key(tmp_path / name / "key") for name in "ab")

    assert first != second


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        ("/data/m.sqlite3", "/data/m.sqlite3.secret-key"),
        ("", "/var/marketplace.secret-key"),
        (":memory:", "/var/marketplace.secret-key"),
        ("file:m?mode=memory", "/var/marketplace.secret-key"),
    ],
)
def test_the_key_is_beside_the_database_if_that_is_a_file(database, expected):
    assert path_beside(database, otherwise=Path("/var")) == Path(expected)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path, mode):
    path = tmp_path / "key"
    stored_key(path)
    path.chmod(mode)

    with pytest.raises(ImproperlyConfigured, match="Other users"):
        stored_key(path)


@pytest.mark.parametrize("content", ["", "\n", "short"])
def test_a_file_without_a_key_is_refused(tmp_path, content):
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(content)

    with pytest.raises(ImproperlyConfigured, match="has no signing key"):
        stored_key(path)


def test_a_link_to_a_key_elsewhere_is_refused(tmp_path):
    stored_key(tmp_path / "elsewhere")
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ImproperlyConfigured, match="MARKETPLACE_SECRET_KEY"):
        stored_key(tmp_path / "key")


def test_where_no_key_can_be_kept_the_error_says_what_to_set(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ImproperlyConfigured, match="Set MARKETPLACE_SECRET_KEY"):
        stored_key(tmp_path / "file" / "key")


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "*", "192.0.2.1", "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1"]
)
def test_an_address_that_others_reach_needs_a_key_that_was_set(settings, host):
    settings.SECRET_KEY_IS_SET = False
    # The URL says nothing of who can reach the address.
    settings.MARKETPLACE_URL = "http://127.0.0.1:8001"

    with pytest.raises(ListeningRefused, match="MARKETPLACE_SECRET_KEY is not set"):
        check_address(host)

    settings.SECRET_KEY_IS_SET = True
    check_address(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "::ffff:127.0.0.1"])
def test_this_machine_alone_needs_none(settings, host):
    settings.SECRET_KEY_IS_SET = False
    settings.MARKETPLACE_URL = "https://marketplace.example.org"

    check_address(host)


def test_test_hooks_are_for_this_machine_alone(settings):
    settings.SECRET_KEY_IS_SET = settings.TEST_HOOKS = True
    check_address("127.0.0.1")

    with pytest.raises(ListeningRefused, match="MARKETPLACE_TEST_HOOKS"):
        check_address("0.0.0.0")


@pytest.mark.parametrize("options", [{}, {"tls": True}])
def test_the_server_does_not_start_beyond_this_machine_without_a_key(settings, tmp_path, options):
    settings.SECRET_KEY_IS_SET = False
    certificates = tmp_path / "certificates"

    with pytest.raises(CommandError, match="MARKETPLACE_SECRET_KEY is not set"):
        call_command(
            "marketplace", host="0.0.0.0", certificates=certificates, stdout=StringIO(), **options
        )

    assert not certificates.exists()


def test_a_wsgi_server_needs_a_key_since_its_address_is_not_known(tmp_path):
    load = ["-c", "import marketplace.wsgi as site; print(callable(site.application))"]

    without = run(load, environment(tmp_path))
    with_key = run(load, environment(tmp_path, MARKETPLACE_SECRET_KEY=KEY))

    assert without.returncode != 0
    assert "MARKETPLACE_SECRET_KEY" in without.stderr
    assert with_key.stdout.strip() == "True"


def test_a_key_that_is_set_is_used_and_none_is_made(tmp_path):
    environ = environment(
        tmp_path, MARKETPLACE_SECRET_KEY=KEY, DJANGO_SETTINGS_MODULE="marketplace.settings"
    )

    assert run(["-c", SHOW_KEY], environ).stdout.strip() == KEY
    assert list(tmp_path.iterdir()) == []
