"""The signing key: generated once if none is set, and required for public addresses."""

import os
import stat
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

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


@pytest.mark.slow
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

    [kept] = tmp_path.glob("*-secret-key")
    assert keys == {kept.read_text().strip()}
    assert len(keys.pop()) >= 50
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    # Nothing of the drafts is left, which would be keys that somebody might take for the one.
    assert list(tmp_path.iterdir()) == [kept]


def test_test_hooks_are_for_this_machine_alone(settings):
    settings.SECRET_KEY_IS_SET = settings.TEST_HOOKS = True

    with pytest.raises(CommandError, match="MARKETPLACE_TEST_HOOKS"):
        call_command("marketplace", host="0.0.0.0")


@pytest.mark.parametrize("tls", [False, True])
def test_the_server_does_not_start_beyond_this_machine_without_a_key(settings, tmp_path, tls):
    settings.SECRET_KEY_IS_SET = False
    certificates = tmp_path / "certificates"
    options = {"tls": True, "certificates": certificates} if tls else {}

    with pytest.raises(CommandError, match="MARKETPLACE_SECRET_KEY is not set"):
        call_command("marketplace", host="0.0.0.0", stdout=StringIO(), **options)

    assert not certificates.exists()


@pytest.mark.slow
def test_a_wsgi_server_needs_a_key_since_its_address_is_not_known(tmp_path):
    load = ["-c", "import marketplace.wsgi as site; print(callable(site.application))"]

    without = run(load, environment(tmp_path))
    with_key = run(load, environment(tmp_path, MARKETPLACE_SECRET_KEY=KEY))

    assert without.returncode != 0
    assert "MARKETPLACE_SECRET_KEY" in without.stderr
    assert with_key.stdout.strip() == "True"


@pytest.mark.slow
def test_a_key_that_is_set_is_used_and_none_is_made(tmp_path):
    environ = environment(
        tmp_path, MARKETPLACE_SECRET_KEY=KEY, DJANGO_SETTINGS_MODULE="marketplace.settings"
    )

    assert run(["-c", SHOW_KEY], environ).stdout.strip() == KEY
    assert list(tmp_path.iterdir()) == []
