"""A backup, restored into an empty database and folder: the same release, no second payment."""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotate.models import Campaign
from corpora.writing import MANIFEST, File, write_atomically, write_folder
from hits.models import Assignment
from hits.mturk.client import marketplace_of
from hits.mturk.hit_texts import installation_name
from hits.reconcile.reconciler import reconcile
from qualcontrol.services.releasing import release_campaign
from shared.backups import files
from tests.factories import NOON, make_campaign
from tests.hits.framed_work import published, work
from tests.services.installation import empty_database

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
# The restored database's assignments and captions.
COUNT = """
from annotate.models import Response
from hits.models import Assignment
paid = Assignment.objects.filter(status="APPROVED").count()
print(paid, Assignment.objects.count(), Response.objects.filter(status="SUBMITTED").count())
"""


TABLES = """
from django.db import connection
print(connection.introspection.table_names())
"""
# Starting Python and Django takes longer than most commands.
RUN = """
import json, sys
import django
django.setup()
from django.core.management import call_command
for command in json.loads(sys.argv[1]):
    call_command(*command)
"""
SHELL = "shell", "--no-imports", "-c"


class EmptyMachine:
    """Runs commands with an empty database and an empty folder of files."""

    def __init__(self, url, media, settings):
        self.media = media
        self.environment = {
            **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
            "DATABASE_URL": url,
            "MEDIA_ROOT": str(media),
            "MTURK_ENDPOINT": settings.MTURK_ENDPOINT,
            "MARKETPLACE_URL": settings.MARKETPLACE_URL,
        }

    def manage(self, *commands):
        """Run the commands in one process; return what they print."""
        environment = {**self.environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
        done = self._run(["-c", RUN, json.dumps(commands)], environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, *arguments):
        return self._run(["manage.py", *arguments], self.environment)

    def _run(self, arguments, environment):
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.fixture
def machine(tmp_path, settings):
    with empty_database(tmp_path) as url:
        yield EmptyMachine(url, tmp_path / "restored-media", settings)


@pytest.fixture
def backup(tmp_path):
    return tmp_path / "backup"


@pytest.fixture
def media(settings):
    return Path(settings.MEDIA_ROOT)


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_backup_that_knows_no_hits_adopts_them_and_pays_nothing_twice(
    client, marketplace, requester, machine, backup
):
    """The backup has the installation's name, by which the site knows its own HITs."""
    campaign = make_campaign(tasks=1)
    installation_name()
    call_command("backup", str(backup))
    reconcile(campaign)
    for worker in marketplace.fresh_workers(3):
        work(client, worker, campaign)
    reconcile(campaign)
    balance = marketplace_of(campaign).balance()

    machine.manage(["restore", str(backup)])
    *_, counts = machine.manage(["sync"], ["sync"], [*SHELL, COUNT]).splitlines()

    assert counts == "3 3 3"
    assert marketplace_of(campaign).balance() == balance


def test_an_old_backup_imports_what_happened_since_and_pays_nothing_twice(
    client, marketplace, requester, machine, backup
):
    """The marketplace knows of HITs, submissions and payments that the backup has not heard of."""
    campaign = published(tasks=2)
    first, *others = marketplace.fresh_workers(3)
    work(client, first, campaign)
    reconcile(campaign)
    call_command("backup", str(backup))
    work(client, first, campaign, 1)
    for worker in others:
        for number in range(2):
            work(client, worker, campaign, number)
    reconcile(campaign)
    balance = marketplace_of(campaign).balance()

    machine.manage(["restore", str(backup)])
    count = [*SHELL, COUNT]
    printed = machine.manage(["migrate", "--verbosity", "0"], count, ["sync"], ["sync"], count)

    before, *_, after = printed.splitlines()
    assert (before, after) == ("1 1 1", "6 6 6")
    assert Assignment.objects.count() == 6
    assert marketplace_of(campaign).balance() == balance


def test_a_restored_release_has_the_same_bytes(
    client, marketplace, requester, machine, backup, settings, tmp_path
):
    campaign = published(tasks=1)
    for number, worker in enumerate(marketplace.fresh_workers(3)):
        work(client, worker, campaign, number)
    reconcile(campaign)
    release_campaign(campaign=campaign, name="r1", seed=7, at=NOON)
    photo = Path(settings.MEDIA_ROOT) / "images" / "photo.jpg"
    photo.parent.mkdir(parents=True)
    photo.write_bytes(b"not decoded here")
    call_command("export_captions", "r1", out=tmp_path / "before")
    call_command("backup", str(backup))

    machine.manage(["restore", str(backup)])
    machine.manage(["export_captions", "r1", "--out", str(tmp_path / "after")])

    assert written(tmp_path / "after") == written(tmp_path / "before")
    assert (machine.media / "images" / "photo.jpg").read_bytes() == b"not decoded here"


def test_a_backup_is_only_restored_into_an_empty_database(backup):
    call_command("backup", str(backup))

    with pytest.raises(CommandError, match="The database is not empty"):
        call_command("restore", str(backup))


def test_a_backup_is_written_to_a_new_folder_only(backup):
    call_command("backup", str(backup))

    with pytest.raises(CommandError, match="is not empty. Name a new folder"):
        call_command("backup", str(backup))


def test_a_folder_of_backups_keeps_the_newest_and_touches_nothing_else(backup):
    for name in ("2026-01-01T000000Z", "2026-01-02T000000Z"):
        call_command("backup", str(backup / name))
    call_command("backup", str(backup / "before-update"))
    with override_settings(SITE_NAME="marketplace"):
        call_command("backup", str(backup / "2025-12-31T000000Z"))
    (backup / "notes").mkdir()

    call_command("backup", str(backup), "--keep", "2")

    other_site, first, *others = sorted(path.name for path in backup.iterdir())
    assert other_site == "2025-12-31T000000Z"
    assert (first, others[1:]) == ("2026-01-02T000000Z", ["before-update", "notes"])
    with pytest.raises(CommandError, match="--keep must be at least 1"):
        call_command("backup", str(backup), "--keep", "0")


def test_a_folder_of_backups_keeps_the_one_just_made_after_a_clock_was_ahead(backup):
    for name in ("2026-01-01T000000Z", "2126-01-01T000000Z", "2126-01-02T000000Z"):
        call_command("backup", str(backup / name))

    call_command("backup", str(backup), "--keep", "2")

    kept = sorted(path.name for path in backup.iterdir())
    assert kept[0] == "2026-01-01T000000Z"
    assert "2026-01-01T000000Z" < kept[1] < "2126"


def test_backups_that_two_processes_delete_at_once_are_gone(backup, monkeypatch):
    for day in (1, 2, 3):
        call_command("backup", str(backup / f"2026-01-0{day}T000000Z"))
    original = shutil.rmtree

    def delete_first(folder):
        monkeypatch.setattr(shutil, "rmtree", original)
        (folder / "database").unlink()
        files.delete_older(backup, made=backup / "2026-01-03T000000Z", keep=1)
        original(folder)

    monkeypatch.setattr(shutil, "rmtree", delete_first)
    files.delete_older(backup, made=backup / "2026-01-03T000000Z", keep=1)

    assert [path.name for path in backup.iterdir()] == ["2026-01-03T000000Z"]


def test_a_backup_that_was_interrupted_or_changed_is_refused(backup):
    call_command("backup", str(backup))
    with (backup / "database").open("ab") as file:
        file.write(b"more")

    with pytest.raises(CommandError, match="was changed after the backup"):
        call_command("restore", str(backup))
    (backup / "backup.json").unlink()
    with pytest.raises(CommandError, match="is not a complete backup"):
        call_command("restore", str(backup))


def test_a_backup_is_readable_for_its_owner_only(backup):
    backup.mkdir(mode=0o755)
    call_command("backup", str(backup))

    assert backup.stat().st_mode & 0o077 == 0
    assert (backup / "database").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", ["images", "reports"])
def test_a_backup_has_no_files_that_were_being_written_or_deleted(media, tmp_path, place):
    """The site continues while the backup is made."""
    write_atomically(media / "images" / "kept.jpg", b"whole")
    (media / "images" / "tmp1.part").write_bytes(b"half")
    for number in range(300):
        write_atomically(media / place / f"kept{number}.jpg", b"whole")
    write = {"images": write_and_delete, "reports": write_and_delete_folders}[place]
    ended = Event()
    writer = Thread(target=write, args=(media / place, ended))
    writer.start()
    try:
        for number in range(5):
            call_command("backup", str(tmp_path / f"backup-{number}"))
    finally:
        ended.set()
        writer.join()

    copied = {path.name for path in tmp_path.glob("backup-*/media/images/*")}
    assert "kept.jpg" in copied
    assert not {name for name in copied if not name.endswith(".jpg")}


def write_and_delete(folder, ended):
    while not ended.is_set():
        for number in range(50):
            write_atomically(folder / f"{number}.jpg", b"x" * 10_000)
        for number in range(50):
            (folder / f"{number}.jpg").unlink()


def write_and_delete_folders(folder, ended):
    """As the site's reports are: each folder appears and goes as a whole."""
    while not ended.is_set():
        for number in range(50):
            files = [File("report.jpg", iter([b"x" * 10_000])), File(MANIFEST, iter([b"{}"]))]
            report = folder / f"report-{number}"
            write_folder(files, report, replaces=lambda _: True)
            shutil.rmtree(report)


def test_a_backup_that_failed_says_why_and_leaves_the_folder_empty(media, backup):
    lost = media / "images" / "lost.jpg"
    lost.parent.mkdir(parents=True)
    lost.symlink_to(media / "nowhere")

    with pytest.raises(CommandError, match=r"lost\.jpg cannot be copied: .*No such file"):
        call_command("backup", str(backup))

    assert list(backup.iterdir()) == []
    lost.unlink()
    call_command("backup", str(backup))


@pytest.mark.parametrize("broken", ["files", "database"])
def test_a_restore_that_failed_can_be_repeated(media, machine, backup, broken):
    write_atomically(media / "images" / "photo.jpg", b"a photograph")
    call_command("backup", str(backup))
    dump, contents = backup / "database", backup / "backup.json"
    whole, said = dump.read_bytes(), contents.read_text()
    link = backup / "media" / "lost.jpg"
    if broken == "files":
        link.symlink_to(backup / "nowhere")
    else:
        dump.write_bytes(whole[: len(whole) // 2])
        digests = sha256(whole).hexdigest(), sha256(dump.read_bytes()).hexdigest()
        contents.write_text(said.replace(*digests))

    refused = machine.run("restore", str(backup))
    left = list(machine.media.glob("*"))

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert left == []
    link.unlink(missing_ok=True)
    dump.write_bytes(whole)
    contents.write_text(said)
    machine.manage(["restore", str(backup)])
    assert (machine.media / "images" / "photo.jpg").read_bytes() == b"a photograph"


def test_a_backup_of_a_newer_version_is_refused(machine, backup):
    call_command("backup", str(backup))
    contents = backup / "backup.json"
    said = json.loads(contents.read_text())
    said["migrations"]["annotate"] = "0999_later"
    contents.write_text(json.dumps(said))

    refused = machine.run("restore", str(backup))

    assert refused.returncode == 1
    assert "0999_later of annotate, which this version does not know" in refused.stderr
    assert machine.manage([*SHELL, TABLES]).split() == ["[]"]


def test_a_backup_of_the_other_site_is_refused(backup):
    call_command("backup", str(backup))
    contents = backup / "backup.json"
    contents.write_text(contents.read_text().replace('"requester"', '"marketplace"', 1))

    with pytest.raises(CommandError, match="The site of the backup is marketplace"):
        call_command("restore", str(backup))
    assert not Campaign.objects.exists()
