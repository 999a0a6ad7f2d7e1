"""Backups of either site: what the command refuses and records, and the operators' page.

`tests/hits/test_backups.py` and `tests/marketplace/test_backups.py` restore whole ones.
"""

import json
import os
import sqlite3
from datetime import timedelta
from io import BytesIO, TextIOWrapper

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.utils import timezone

from shared.backups.files import BackupRefused, _read_back, restore_backup, write_backup
from shared.backups.models import BackupRun

pytestmark = pytest.mark.django_db(transaction=True)

IS_MARKETPLACE = settings.SITE_NAME == "marketplace"
PAGE = "/operator/backups" if IS_MARKETPLACE else "/jobs/backups/"
COMMAND = "marketplace_backup" if IS_MARKETPLACE else "backup"


@pytest.fixture
def operator(client):
    client.force_login(User.objects.create_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def media(settings, tmp_path):
    """On the requester site, which alone has files, a folder with one file of six bytes."""
    if IS_MARKETPLACE:
        return
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    (settings.MEDIA_ROOT / "one.txt").write_text("photo\n")


def run_in(folder, *, ago=timedelta(0), error=""):
    ended = timezone.now() - ago
    return BackupRun.objects.create(
        started_at=ended - timedelta(seconds=4),
        ended_at=ended,
        host="server",
        folder=str(folder),
        database_bytes=0 if error else 5_000_000,
        error=error,
    )


@pytest.mark.slow
def test_the_command_records_what_it_wrote(operator, media, tmp_path):
    call_command(COMMAND, str(tmp_path / "first"))

    run = BackupRun.objects.get()
    page = operator.get(PAGE).content.decode()
    assert run.folder == str(tmp_path / "first")
    assert run.database_bytes == (tmp_path / "first" / "database").stat().st_size
    assert (run.files, run.files_bytes) == ((0, 0) if IS_MARKETPLACE else (1, 6))
    assert run.error == ""
    assert "and could be read back" in page
    assert str(tmp_path / "first") in page


@pytest.mark.slow
def test_a_damaged_list_of_contents_is_refused_before_anything_is_restored(media, tmp_path):
    folder = tmp_path / "first"
    call_command(COMMAND, str(folder))
    said = json.loads((folder / "backup.json").read_text())
    damaged = [
        [],
        "backup",
        None,
        said | {"migrations": None},
        said | {"migrations": ["annotate"]},
        said | {"migrations": {"annotate": []}},
        said | {"made_at": None},
        said | {"made_at": "yesterday"},
        {name: value for name, value in said.items() if name != "made_at"},
    ]

    for contents in damaged:
        (folder / "backup.json").write_text(json.dumps(contents))
        with pytest.raises(BackupRefused, match="is not a complete backup"):
            restore_backup(folder, media=None)


@pytest.mark.slow
def test_a_folder_whose_name_is_not_utf8_is_recorded_with_an_escape(media, tmp_path):
    out = TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True)

    call_command(COMMAND, str(tmp_path / os.fsdecode(b"night\xff")), stdout=out)

    assert "night\\udcff" in out.buffer.getvalue().decode()
    assert BackupRun.objects.get().folder == f"{tmp_path}/night\\udcff"
    with pytest.raises(CommandError, match="is not empty"):
        call_command(COMMAND, str(tmp_path / os.fsdecode(b"night\xff")), stdout=out)
    assert "night\\udcff is not empty" in BackupRun.objects.last().error


def test_a_failed_run_is_recorded_and_shown_with_its_reason(operator, media, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other").touch()

    with pytest.raises(CommandError, match="is not empty"):
        call_command(COMMAND, str(tmp_path / "full"))

    page = operator.get(PAGE).content.decode()
    assert BackupRun.objects.get().database_bytes == 0
    assert "There is no backup of this site yet" in page
    assert "is not empty. Name a new folder." in page


@pytest.mark.skipif(connection.vendor != "sqlite", reason="pg_dump says it by itself")
def test_a_full_disk_is_recorded_as_the_reason(media, tmp_path, monkeypatch):
    def small(path):
        copy = connect(path)
        copy.execute("PRAGMA max_page_count = 2")
        return copy

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", small)

    with pytest.raises(CommandError, match="disk is full"):
        call_command(COMMAND, str(tmp_path / "first"))

    assert "disk is full" in BackupRun.objects.get().error
    assert list((tmp_path / "first").iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is a file")
def test_pg_dump_connects_with_the_options_of_the_site(media, tmp_path, monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {"options": "-c no_such_setting=1"})

    with pytest.raises(CommandError, match="no_such_setting"):
        call_command(COMMAND, str(tmp_path / "first"))


@pytest.mark.slow
def test_a_copy_that_cannot_be_read_is_no_backup(media, tmp_path):
    call_command(COMMAND, str(tmp_path / "first"))
    dump = tmp_path / "first" / "database"
    os.truncate(dump, dump.stat().st_size // 2)

    with pytest.raises(BackupRefused):
        _read_back(tmp_path / "first")


def test_the_page_warns_if_the_last_good_backup_is_old(operator):
    run_in("/backups/monday", ago=timedelta(days=3))
    run_in("/backups/tuesday", ago=timedelta(days=2), error="No space left on device")

    page = operator.get(PAGE).content.decode()

    assert "The last good backup ended 3\xa0days ago." in page
    assert "No space left on device" in page
    assert "restore /backups/monday" in page


def test_the_page_warns_if_the_latest_attempt_failed(operator):
    run_in("/backups/monday", ago=timedelta(hours=2))
    run_in("/backups/tuesday", error="No space left on device")

    page = operator.get(PAGE).content.decode()

    assert "The latest attempt failed. The last good backup ended 2\xa0hours ago." in page


def test_a_backup_by_a_clock_that_was_ahead_is_not_the_latest(operator):
    run_in("/backups/monday", ago=-timedelta(days=365))
    assert "each day" in operator.get(PAGE).content.decode()
    run_in("/backups/tuesday", ago=timedelta(hours=1))

    page = operator.get(PAGE).content.decode()

    assert "restore /backups/tuesday" in page
    assert "The last backup ended 1\xa0hour ago" in page


def test_a_site_without_backups_says_how_to_make_one(operator):
    page = operator.get(PAGE).content.decode()

    assert f"manage.py {COMMAND} DIR" in page


def test_nobody_else_sees_the_page(client):
    client.force_login(User.objects.create_user("guest"))

    assert client.get(PAGE).status_code == (302 if IS_MARKETPLACE else 403)


@pytest.mark.parametrize("wrong", [{"error": "", "database_bytes": 0}, {"error": "no disk"}])
def test_a_run_has_either_a_database_or_an_error(wrong):
    run = run_in("/backups/monday")

    with pytest.raises(IntegrityError):
        BackupRun.objects.filter(pk=run.pk).update(**wrong)


@pytest.mark.parametrize("place", ["", "backups/monday"])
def test_a_backup_inside_of_what_it_copies_is_refused(tmp_path, place):
    media = tmp_path / "media"
    media.mkdir()

    with pytest.raises(BackupRefused, match="is in the folder of the site's files"):
        write_backup(media / place, media=media, at=timezone.now())

    assert list(media.iterdir()) == []
