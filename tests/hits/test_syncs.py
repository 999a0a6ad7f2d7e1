"""Syncs requested by a page: who runs them, and what the page shows meanwhile."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotate.models import CampaignStatus
from hits.dashboard.sync_states import PATIENCE, WORTH_A_WORD, Phase, sync_state
from hits.management.commands import sync as sync_command
from hits.models import SILENT_AFTER, HitStatus, Sync, SyncRequest
from hits.reconcile import run as run_module
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import NotPublished, reconcile
from hits.services.syncs import ask_for_sync
from hits.tasks import sync_campaign
from tests.factories import NOON, CampaignFactory, HitFactory, UserFactory
from tests.hits.conftest import make_campaign

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)


def asked(campaign, at=NOON):
    ask_for_sync(campaign=campaign, at=at)
    return campaign


def run_of(campaign, *, began=NOON, seen=NOON, **values):
    return Sync.objects.create(campaign=campaign, started_at=began, seen_at=seen, **values)


def phase(campaign, at):
    state = sync_state(campaign, at=at)
    return state and state.phase


def test_a_whole_run_takes_the_request_up(requester):
    campaign = asked(make_campaign(tasks=1))

    sync = reconcile(campaign)

    assert SyncRequest.objects.get().sync == sync
    assert sync_state(campaign, at=timezone.now()) is None


def test_a_run_that_only_reads_leaves_the_request(requester):
    campaign = asked(make_campaign(tasks=1))

    reconcile(campaign, steps=(ingest,))

    assert SyncRequest.objects.get().sync is None


def test_a_run_does_what_was_asked_for_until_it_began(requester):
    campaign = make_campaign(tasks=1)
    reconcile(campaign)
    stale = type(campaign).objects.get(pk=campaign.pk)
    type(campaign).objects.filter(pk=campaign.pk).update(status=CampaignStatus.PAUSED)
    asked(campaign)

    reconcile(stale)

    assert not campaign.hits.filter(status=HitStatus.OPEN).exists()


def test_asking_again_makes_a_new_request(requester):
    campaign = asked(make_campaign(tasks=1))
    reconcile(campaign)

    asked(campaign, at=NOON + SECOND)

    assert SyncRequest.objects.get().sync is None


def test_a_draft_has_nothing_to_reconcile():
    with pytest.raises(NotPublished):
        reconcile(CampaignFactory(status="DRAFT"))

    assert not Sync.objects.exists()


@pytest.mark.parametrize("has_broker", [True, False])
def test_the_button_queues_a_sync_if_there_is_a_broker(client, settings, monkeypatch, has_broker):
    settings.CELERY_TASK_ALWAYS_EAGER = not has_broker
    handed_on = []
    monkeypatch.setattr(sync_campaign, "delay", handed_on.append)
    campaign = CampaignFactory()
    client.force_login(UserFactory())

    client.post(f"/campaigns/{campaign.slug}/sync/")

    assert SyncRequest.objects.filter(campaign=campaign).exists()
    assert handed_on == ([campaign.pk] if has_broker else [])


class Stopped(Exception):
    """Raised in place of a sleep, to end a command that runs forever."""


def test_the_watch_takes_up_requests_between_its_rounds(requester, monkeypatch):
    wanted, other = make_campaign(tasks=1), make_campaign(tasks=1)
    naps = []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 1:
            asked(wanted)
        if len(naps) == 3:
            raise Stopped

    monkeypatch.setattr(sync_command.time, "sleep", nap)

    with pytest.raises(Stopped):
        call_command("sync", "--watch", "3600", stdout=StringIO())

    assert (wanted.syncs.count(), other.syncs.count()) == (2, 1)
    assert max(naps) <= sync_command.WISHES_EVERY


def test_a_request_waits_then_is_called_unattended():
    campaign = asked(CampaignFactory())

    assert phase(campaign, NOON + PATIENCE - SECOND) is Phase.WAITING
    assert phase(campaign, NOON + PATIENCE) is Phase.UNATTENDED


def test_a_request_waits_longer_while_another_campaign_is_reconciled():
    campaign = asked(CampaignFactory())
    run_of(CampaignFactory(), seen=NOON + PATIENCE)

    assert phase(campaign, NOON + PATIENCE) is Phase.BUSY


def test_a_run_tells_how_many_slots_it_has_opened():
    campaign = CampaignFactory()
    HitFactory(hit_type__campaign=campaign, slots=5)
    HitFactory(hit_type=campaign.hit_types.get(), slots=4, status="PLANNED", hit_id=None)
    asked(campaign)
    SyncRequest.objects.update(sync=run_of(campaign))

    state = sync_state(campaign, at=NOON + SECOND)

    assert (state.phase, state.done, state.whole) == (Phase.RUNNING, 5, 9)


def test_a_run_tells_how_many_hits_it_has_closed():
    campaign = CampaignFactory(status="PAUSED")
    HitFactory(hit_type__campaign=campaign)
    HitFactory(hit_type=campaign.hit_types.get(), status="EXPIRED")
    asked(campaign)
    SyncRequest.objects.update(sync=run_of(campaign))

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
    SyncRequest.objects.update(sync=run_of(campaign))
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
        (timedelta(), "Waiting for the reconciler"),
        (PATIENCE, "No reconciler has started this sync"),
    ],
)
def test_the_part_that_keeps_itself_up_to_date_tells_the_phase(client, at, sentence):
    client.force_login(UserFactory())
    asked(CampaignFactory(slug="pilot"), at=timezone.now() - at)

    part = client.get("/campaigns/pilot/sync/progress/").content.decode()

    assert sentence in part
    assert 'data-sync-progress="/campaigns/pilot/sync/progress/"' in part


def test_the_part_is_empty_where_the_campaign_is_in_step(client):
    client.force_login(UserFactory())
    CampaignFactory(slug="pilot")

    part = client.get("/campaigns/pilot/sync/progress/").content.decode()

    assert 'data-sync-progress=""' in part
    assert "hidden" in part
