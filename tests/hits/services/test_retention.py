"""Deleting old rows: the rules, and their schedule."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from annotate.services.uploads import UploadMissing, find_upload, store_upload
from background.jobs.requests import JOBS_ARE_KEPT, delete_old_jobs
from background.models import Job, Notice
from config.celery import app
from hits import tasks
from hits.models import ProcessedMessage, Sync, TaskPage
from hits.services import retention
from hits.services.claims import recount_places
from hits.services.hit_pages import KEPT_AFTER_EXPIRY, delete_expired_pages
from hits.services.retention import (
    NOTICES_ARE_KEPT,
    Outcome,
    delete_expired_sessions,
    delete_old_notices,
    tidy,
)
from hits.services.syncs import delete_old_messages, delete_old_syncs
from shared.database.transactions import delete_in_batches
from tests.factories import NOON, CampaignFactory, ClaimFactory, TaskFactory, TaskPageFactory

pytestmark = pytest.mark.django_db


def session(key, expires):
    return Session.objects.create(session_key=key, session_data="", expire_date=expires)


def fail(*, at):
    raise OperationalError("the server closed the connection\nDETAIL: a row's values")


def test_sessions_are_deleted_once_they_have_expired():
    session("old", NOON - timedelta(seconds=1))
    kept = session("kept", NOON)

    assert delete_expired_sessions(at=NOON) == 1
    assert Session.objects.get() == kept


def test_uploads_that_were_not_imported_are_deleted_although_nobody_uploads(settings, tmp_path):
    settings.UPLOAD_ROOT, now = tmp_path / "uploads", timezone.now()
    key = store_upload([("a.png", SimpleUploadedFile("a.png", b"x"))])

    list(tidy(at=now + timedelta(days=6)))
    assert find_upload(key)
    list(tidy(at=now + timedelta(days=8)))

    with pytest.raises(UploadMissing):
        find_upload(key)


def test_old_jobs_are_deleted_with_their_files(settings):
    file = Path(settings.MEDIA_ROOT) / "exports" / "v1.zip"
    file.parent.mkdir(parents=True)
    file.touch()
    values = {"kind": "export", "asked_at": NOON, "due_at": NOON}
    done = {"status": "DONE", "result_file": "exports/v1.zip"}
    Job.objects.create(**values, **done, fingerprint="1", ended_at=NOON)
    kept = Job.objects.create(**values, fingerprint="2")

    assert delete_old_jobs(at=NOON + JOBS_ARE_KEPT) == 0
    assert delete_old_jobs(at=NOON + JOBS_ARE_KEPT + timedelta(seconds=1)) == 1

    assert Job.objects.get() == kept
    assert not file.exists()


def test_old_notices_are_deleted_unless_their_state_lasts():
    values = {"kind": "reviews-wait", "title": "Try", "path": "/", "noticed_at": NOON}
    Notice.objects.create(**values, subject="1", over_at=NOON)
    kept = Notice.objects.create(**values, subject="2", about=CampaignFactory())
    # Of a job that no campaign has, and that was deleted long before.
    Notice.objects.create(**{**values, "kind": "job-failed"}, subject="3")

    assert delete_old_notices(at=NOON + NOTICES_ARE_KEPT) == 0
    assert delete_old_notices(at=NOON + NOTICES_ARE_KEPT + timedelta(seconds=1)) == 2

    assert Notice.objects.get() == kept


def test_rows_are_deleted_in_batches(django_assert_num_queries):
    for number in range(5):
        session(f"s{number}", NOON)

    # Three batches, each one read and one delete, and the read that finds nothing.
    with django_assert_num_queries(7):
        deleted = delete_in_batches(Session.objects.all(), size=2)

    assert (deleted, Session.objects.count()) == (5, 0)


def test_a_rule_that_fails_does_not_stop_the_others(monkeypatch):
    session("old", NOON - timedelta(days=1))

    def delete_files(*, at):
        raise PermissionError("the folder of exports is read-only")

    rules = {"broken rows": fail, "files": delete_files, "sessions": delete_expired_sessions}
    monkeypatch.setattr(retention, "RULES", rules)

    outcomes = list(tidy(at=NOON))

    assert outcomes == [
        Outcome("broken rows", error="the server closed the connection"),
        Outcome("files", error="the folder of exports is read-only"),
        Outcome("sessions", deleted=1),
    ]


def test_the_command_prints_what_it_deleted():
    session("old", timezone.now() - timedelta(days=1))
    out = StringIO()

    call_command("tidy", stdout=out)

    assert "expired sessions: 1\n" in out.getvalue()
    assert not Session.objects.exists()


def test_the_command_fails_where_a_rule_failed(monkeypatch):
    monkeypatch.setattr(retention, "RULES", {"broken rows": fail})

    with pytest.raises(CommandError, match="broken rows: the server closed the connection"):
        call_command("tidy", stdout=StringIO())


def test_beat_runs_the_rules_each_night():
    session("old", timezone.now() - timedelta(days=1))
    app.finalize()
    task = app.conf.beat_schedule["tidy"]["task"]

    app.tasks[task].apply()

    assert task == tasks.tidy.name
    assert not Session.objects.exists()


def test_a_page_that_no_sync_has_ended_goes_after_a_week():
    expired_at = NOON - KEPT_AFTER_EXPIRY
    old = TaskPageFactory(opened_at=NOON - timedelta(days=30), expires_at=expired_at)
    claim = ClaimFactory(page=old, task=TaskFactory(campaign=old.hit.campaign))
    kept = TaskPageFactory(expires_at=expired_at + timedelta(seconds=1), opened_at=old.opened_at)

    assert delete_expired_pages(at=NOON) == 1

    assert TaskPage.objects.get() == kept
    assert recount_places(claim.task.campaign) == 0


def test_records_of_syncs_go_but_each_campaigns_last_one():
    old, lately = NOON - timedelta(days=31), NOON - timedelta(days=29)
    busy, over = CampaignFactory.create_batch(2)
    for campaign, began in [(busy, old), (over, old), (over, old), (busy, lately)]:
        last = Sync.objects.create(campaign=campaign, started_at=began)

    assert delete_old_syncs(at=NOON) == 2

    assert busy.syncs.get() == last
    assert over.syncs.count() == 1


def test_messages_of_the_queue_go_once_they_cannot_be_repeated():
    for days, problem in [(14, ""), (16, ""), (16, "no JSON"), (91, "no JSON")]:
        ProcessedMessage.objects.create(
            document_id=f"{days}{problem}",
            problem=problem,
            received_at=NOON - timedelta(days=days),
        )

    assert delete_old_messages(at=NOON) == 2

    assert set(ProcessedMessage.objects.values_list("document_id", flat=True)) == {
        "14",
        "16no JSON",
    }
