"""The site's clock and the marketplace's differ by 14 minutes, the most that signatures allow.

The marketplace decides which HITs have expired.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
import requests
from django.utils import timezone

from hits.models import Assignment, AssignmentStatus, Hit
from hits.mturk import connection
from hits.mturk.client import marketplace_of
from hits.queries.costs import spend
from hits.reconcile.reconciler import reconcile
from tests.factories import make_campaign
from tests.hits.framed_work import published, work
from tests.hits.marketplace_process import running_marketplace
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

SKEW = timedelta(minutes=14)
LIFETIME = timedelta(days=1)


@pytest.fixture(scope="module")
def movable(tmp_path_factory):
    """A marketplace whose clock can be moved."""
    folder = tmp_path_factory.mktemp("movable")
    with running_marketplace(folder, MARKETPLACE_TEST_HOOKS="true") as process:
        yield process


@pytest.fixture
def advance(movable, settings, monkeypatch):
    """Move the marketplace's clock; this test's requester uses that marketplace."""
    keys = movable.fresh_requester()
    settings.MARKETPLACE_URL = movable.url
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret_key"])

    def moved(**body: object) -> None:
        answer = requests.post(f"{movable.url}/test/clock", json=body, timeout=PATIENCE)
        assert answer.ok, answer.text

    yield lambda by: moved(advance_seconds=by.total_seconds())
    moved(reset=True)


def slots_there(campaign) -> int:
    """Slots that a worker can take now."""
    return sum(hit.available for hit in marketplace_of(campaign).hits() if not hit.is_closed)


@pytest.mark.parametrize("ahead", [SKEW, -SKEW], ids=["ours is ahead", "ours is behind"])
@pytest.mark.parametrize("expired", [False, True])
def test_open_slots_never_cost_more_than_the_budget(advance, ahead, expired):
    """At a time when HITs have expired by one clock and not by the other."""
    campaign = make_campaign(tasks=2, hit={"lifetime_days": 1})
    campaign.budget = Decimal("0.60")
    campaign.save()
    reconcile(campaign)
    assert slots_there(campaign) == 5
    until_now = LIFETIME + timedelta(minutes=7 if expired else -7)
    advance(until_now)

    for minute in range(3):
        reconcile(campaign, at=timezone.now() + until_now + ahead + timedelta(minutes=minute))

        assert slots_there(campaign) == 5
        assert spend(campaign).committed == Decimal("0.60")

    assert Hit.objects.alive().filter(available__gt=0).count() == len(
        [hit for hit in marketplace_of(campaign).hits() if not hit.is_closed]
    )


@pytest.mark.parametrize("hours", [0, 24])
def test_the_review_window_ends_by_the_marketplaces_clock(client, movable, advance, hours):
    """Submission times are the marketplace's, whose clock is days ahead here."""
    advance(timedelta(days=3))
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": hours})
    work(client, movable.fresh_workers(1)[0], campaign, 1)
    # The header that tells the marketplace's time has whole seconds.
    advance(timedelta(minutes=1))

    assert reconcile(campaign).approved == (0 if hours else 1)
    advance(timedelta(hours=hours))

    assert reconcile(campaign).approved == (1 if hours else 0)
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED


@pytest.mark.parametrize("is_known", [True, False])
def test_a_sync_without_other_calls_knows_the_marketplaces_time(
    client, movable, advance, monkeypatch, is_known
):
    """The review window lasts two hours of the marketplace's clock, which is a day behind."""
    advance(-timedelta(days=1))
    campaign = published(tasks=1, review={"share": 0, "approve_after_hours": 2})
    work(client, movable.fresh_workers(1)[0], campaign, 1)
    assert reconcile(campaign).ingested == 1
    if not is_known:
        monkeypatch.setattr(connection, "_skews", {})  # as in a new process

    assert reconcile(campaign, is_whole=False).approved == 0
    advance(timedelta(hours=3))

    reconcile(campaign)
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
