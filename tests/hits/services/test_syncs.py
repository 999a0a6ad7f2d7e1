"""Syncs requested by a page: the jobs that run them, and what the page shows meanwhile."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotate.models import CampaignStatus
from background.jobs import leases
from background.jobs.requests import cancel_job, request_job
from background.jobs.work import Work
from background.models import Job, JobStatus
from background.tasks import work_next
from hits.management.commands import sync as sync_command
from hits.models import SILENT_AFTER, HitStatus, Sync
from hits.reconcile import run as run_module
from hits.reconcile import top_up as top_up_module
from hits.reconcile.reconciler import NotPublished, SyncBusy, reconcile
from hits.services.lifecycle import ask_to_publish
from hits.services.syncs import PATIENCE, WORTH_A_WORD, Phase, ask_for_sync, sync_state
from tests.factories import NOON, CampaignFactory, HitFactory, UserFactory, make_campaign
from tests.hits.framed_work import published
from tests.jobs import run_jobs
from tests.pauses import Stopped, nothing
from tests.threads import locked_elsewhere

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


def asked(campaign, at=NOON):
    ask_for_sync(campaign=campaign, user=None, at=at)
    return campaign


def run_of(campaign, *, began=NOON, seen=NOON, **values):
    return Sync.objects.create(campaign=campaign, started_at=began, seen_at=seen, **values)


def phase(campaign, at):
    state = sync_state(campaign, at=at)
    return state and state.phase


def test_a_requested_sync_is_a_job_that_says_what_it_did(requester):
    campaign = asked(make_campaign(tasks=1), at=timezone.now())

    (job,) = run_jobs()

    assert (job.kind, job.status, job.error) == ("sync", JobStatus.DONE, "")
    assert "1 HIT created" in job.result_text
    assert "Creating HITs at the marketplace" in list(job.lines.values_list("text", flat=True))
    assert sync_state(campaign, at=timezone.now()) is None


def test_a_sync_does_what_was_asked_for_until_it_began(requester):
    campaign = published(tasks=1)
    type(campaign).objects.filter(pk=campaign.pk).update(status=CampaignStatus.PAUSED)
    asked(campaign, at=timezone.now())

    run_jobs()

    assert not campaign.hits.filter(status=HitStatus.OPEN).exists()


def test_a_request_joins_one_that_waits_but_not_one_that_runs():
    campaign = asked(CampaignFactory())
    again = ask_for_sync(campaign=campaign, user=None, at=NOON)
    running = leases.take(at=NOON)

    later = ask_for_sync(campaign=campaign, user=None, at=NOON)

    assert again == running
    assert later != running
    assert later == ask_for_sync(campaign=campaign, user=None, at=NOON)


def test_a_request_joins_one_that_waits_again_because_the_campaign_is_busy():
    campaign = asked(CampaignFactory())
    first = leases.take(at=NOON)
    meanwhile = ask_for_sync(campaign=campaign, user=None, at=NOON)
    leases.postpone(job=first, reason="Another process is syncing.", at=NOON)
    second = leases.take(at=NOON)
    assert second == meanwhile
    leases.postpone(job=second, reason="Another process is syncing.", at=NOON)

    later = [ask_for_sync(campaign=campaign, user=None, at=NOON) for _ in range(3)]

    assert later == [meanwhile] * 3


def test_a_sync_waits_until_another_one_of_its_campaign_has_ended(requester):
    campaign = asked(make_campaign(tasks=1), at=timezone.now())
    with locked_elsewhere(f"sync-{campaign.pk}"):
        with pytest.raises(SyncBusy, match="Another process is syncing"):
            reconcile(campaign)
        (job,) = run_jobs()
        assert (job.status, job.attempts, campaign.syncs.count()) == (JobStatus.WAITING, 0, 0)
        assert phase(campaign, job.asked_at + PATIENCE) is Phase.BUSY

    Job.objects.update(due_at=timezone.now())
    (job,) = run_jobs()

    assert (job.status, campaign.syncs.count()) == (JobStatus.DONE, 1)


def test_a_cancelled_sync_stops_between_two_hits_and_the_next_one_continues(requester, monkeypatch):
    campaign = asked(make_campaign(tasks=3), at=timezone.now())
    create = top_up_module._create

    def cancel_after_the_first(run, hit):
        create(run, hit)
        if not Job.objects.filter(cancel_asked_at__isnull=False).exists():
            cancel_job(job=Job.objects.get(), user=None, at=timezone.now())

    monkeypatch.setattr(top_up_module, "_create", cancel_after_the_first)

    (job,) = run_jobs()

    assert job.status == JobStatus.CANCELLED
    assert campaign.hits.filter(status=HitStatus.OPEN).count() == 1
    assert "stopped before its end" in campaign.syncs.first().error
    reconcile(campaign)
    assert not campaign.hits.filter(status=HitStatus.PLANNED).exists()


def test_publishing_is_a_job_and_repeating_it_changes_nothing(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    for _ in range(2):
        ask_to_publish(campaign=campaign, actor=None, at=timezone.now())
    (job,) = run_jobs()
    assert (job.kind, job.status) == ("publish", JobStatus.DONE)
    # As after a killed worker.
    Job.objects.update(status=JobStatus.WAITING, ended_at=None, due_at=NOON)

    (job,) = run_jobs()

    assert (job.kind, job.status) == ("publish", JobStatus.DONE)
    campaign.refresh_from_db()
    assert campaign.status == CampaignStatus.RUNNING
    assert campaign.hits.filter(status=HitStatus.OPEN).count() == 1


def test_publishing_is_tried_again_after_the_marketplace_has_failed(requester, settings):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ask_to_publish(campaign=campaign, actor=None, at=timezone.now())
    there, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, "http://127.0.0.1:9"
    settings.MTURK_MAX_ATTEMPTS = 1

    (job,) = run_jobs()

    campaign.refresh_from_db()
    assert (job.status, job.attempts, campaign.status) == (JobStatus.WAITING, 1, "DRAFT")
    assert "did not answer get_account_balance" in job.step
    assert phase(campaign, job.asked_at + PATIENCE) is Phase.BUSY
    settings.MARKETPLACE_URL = there
    Job.objects.update(due_at=timezone.now())

    (job,) = run_jobs()

    campaign.refresh_from_db()
    assert (job.status, campaign.status) == (JobStatus.DONE, CampaignStatus.RUNNING)


def test_publishing_fails_in_words_if_the_account_is_empty(marketplace, requester, monkeypatch):
    campaign = make_campaign(tasks=1, status="DRAFT")
    poor = marketplace.requester("Poor", balance="0.00")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", poor["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", poor["secret_key"])
    ask_to_publish(campaign=campaign, actor=None, at=timezone.now())

    (job,) = run_jobs()

    campaign.refresh_from_db()
    assert (job.status, campaign.status) == (JobStatus.FAILED, CampaignStatus.DRAFT)
    assert "balance does not cover one assignment" in job.error


def test_a_campaign_paused_meanwhile_is_not_published_by_an_old_request(requester):
    campaign = make_campaign(tasks=1, status="DRAFT")
    ask_to_publish(campaign=campaign, actor=None, at=timezone.now())
    type(campaign).objects.update(status=CampaignStatus.PAUSED)

    (job,) = run_jobs()

    campaign.refresh_from_db()
    assert (job.status, campaign.status) == (JobStatus.FAILED, CampaignStatus.PAUSED)
    assert "paused meanwhile" in job.error


def test_a_draft_has_nothing_to_reconcile():
    with pytest.raises(NotPublished):
        reconcile(CampaignFactory(status="DRAFT"))

    assert not Sync.objects.exists()


@pytest.mark.parametrize("has_broker", [True, False])
def test_the_button_queues_a_sync_if_there_is_a_broker(
    client, settings, monkeypatch, django_capture_on_commit_callbacks, has_broker
):
    settings.CELERY_TASK_ALWAYS_EAGER = not has_broker
    handed_on = []
    monkeypatch.setattr(work_next, "delay", lambda: handed_on.append("work"))
    campaign = CampaignFactory()
    client.force_login(UserFactory())

    with django_capture_on_commit_callbacks() as after_the_commit:
        client.post(f"/campaigns/{campaign.slug}/sync/")
    before_the_commit = [*handed_on]
    for call in after_the_commit:
        call()

    assert Job.objects.get().about == campaign
    assert before_the_commit == []
    assert handed_on == (["work"] if has_broker else [])


def test_the_watch_takes_up_requests_between_its_rounds(requester, pauses):
    wanted, other = make_campaign(tasks=1), make_campaign(tasks=1)
    pauses.actions = [nothing, lambda: asked(wanted, at=timezone.now()), nothing]

    with pytest.raises(Stopped):
        call_command("sync", "--watch", "3600", stdout=StringIO())

    assert (wanted.syncs.count(), other.syncs.count()) == (2, 1)
    assert max(pauses) <= sync_command.LOOKS_EVERY


def test_a_request_waits_then_is_called_unattended():
    campaign = asked(CampaignFactory())

    assert phase(campaign, NOON + PATIENCE - SECOND) is Phase.WAITING
    assert phase(campaign, NOON + PATIENCE) is Phase.UNATTENDED


def test_a_request_waits_longer_while_workers_are_busy():
    asked(CampaignFactory())
    leases.take(at=NOON)
    campaign = asked(CampaignFactory())

    assert phase(campaign, NOON + PATIENCE) is Phase.BUSY


def test_a_run_tells_how_many_slots_it_has_opened():
    campaign = CampaignFactory()
    HitFactory(hit_type__campaign=campaign, slots=5)
    HitFactory(hit_type=campaign.hit_types.get(), slots=4, status="PLANNED", hit_id=None)
    asked(campaign)
    run_of(campaign)

    state = sync_state(campaign, at=NOON + SECOND)

    assert (state.phase, state.done, state.whole) == (Phase.RUNNING, 5, 9)


def test_a_run_tells_how_many_hits_it_has_closed():
    campaign = CampaignFactory(status="PAUSED")
    HitFactory(hit_type__campaign=campaign)
    HitFactory(hit_type=campaign.hit_types.get(), status="EXPIRED")
    asked(campaign)
    run_of(campaign)

    state = sync_state(campaign, at=NOON + SECOND)

    assert (state.phase, state.done, state.whole) == (Phase.RUNNING, 1, 2)


def test_a_short_run_by_the_clock_is_not_told():
    campaign = CampaignFactory()
    run_of(campaign)

    assert phase(campaign, NOON + WORTH_A_WORD) is None
    assert phase(campaign, NOON + WORTH_A_WORD + SECOND) is Phase.RUNNING


def test_a_run_that_was_killed_is_told_until_another_one_ends():
    campaign = CampaignFactory()
    run_of(campaign)
    later = NOON + SILENT_AFTER

    before = phase(campaign, later)
    run_of(campaign, finished_at=later)

    assert (before, phase(campaign, later)) == (Phase.SILENT, None)


def test_the_run_after_one_that_was_killed_is_told_at_once():
    campaign = asked(CampaignFactory())
    run_of(campaign)
    later = NOON + 2 * SILENT_AFTER
    run_of(campaign, began=later, seen=later)

    assert phase(campaign, later) is Phase.RUNNING


def test_a_run_notes_how_far_it_is(requester, monkeypatch):
    monkeypatch.setattr(run_module, "NOTED_EVERY", timedelta())
    campaign = make_campaign(tasks=3)
    noted = []
    save = Sync.save

    def note(sync, *args, **kwargs):
        save(sync, *args, **kwargs)
        noted.append(Sync.objects.get(pk=sync.pk))

    monkeypatch.setattr(Sync, "save", note)

    reconcile(campaign)

    created = [sync.hits_created for sync in noted if sync.finished_at is None]
    assert created == sorted(created)
    assert 0 < created[-1] < noted[-1].hits_created + 1
    assert all(sync.seen_at for sync in noted)


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        (timedelta(), "Starts in a moment"),
        (PATIENCE, "No worker process has started this sync"),
    ],
)
def test_the_part_that_keeps_itself_up_to_date_tells_the_phase(client, at, sentence):
    client.force_login(UserFactory())
    asked(CampaignFactory(slug="pilot"), at=timezone.now() - at)

    part = client.get("/campaigns/pilot/sync/progress/").content.decode()

    assert sentence in part
    assert 'data-sync-progress="/campaigns/pilot/sync/progress/"' in part


def test_the_part_tells_the_step_of_a_job_that_publishes(client):
    client.force_login(UserFactory())
    campaign, at = CampaignFactory(slug="pilot", status="DRAFT"), timezone.now()
    request_job(kind="publish", arguments={}, user=None, at=at, about=campaign)
    work = Work(leases.take(at=at))
    work.step("Checking the budget and the account at the marketplace")
    leases.renew(job=work.job, news=work.take_news(), at=at)

    part = client.get("/campaigns/pilot/sync/progress/").content.decode()

    assert "Opening tasks" in part
    assert "Checking the budget and the account at the marketplace." in part
    assert "Starts in a moment" not in part


def test_the_part_is_empty_where_the_campaign_is_in_step(client):
    client.force_login(UserFactory())
    CampaignFactory(slug="pilot")

    part = client.get("/campaigns/pilot/sync/progress/").content.decode()

    assert 'data-sync-progress=""' in part
    assert "hidden" in part
