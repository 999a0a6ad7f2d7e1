"""The pace of calls that all processes share."""

from datetime import timedelta

import pytest
from django.utils import timezone

from hits.models import CallPace
from hits.mturk.client import Marketplace, marketplace_of
from hits.mturk.connection import LONGEST_PAUSE, NO_PAUSE, MarketplaceError, Pace
from hits.reconcile.reconciler import reconcile
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db(transaction=True)


def pace(waited: list[float], endpoint: str = "https://one.example") -> Pace:
    return Pace(endpoint, per_second=0.01, sleep=waited.append)


def test_processes_take_turns_at_one_endpoint():
    waited: list[float] = []
    first, second = pace(waited), pace(waited)

    for each in (first, second, first):
        each.wait()
    pace(waited, "https://other.example").wait()

    assert waited[0] == waited[3] == 0
    assert 90 < waited[1] <= 100
    assert 190 < waited[2] <= 200


def test_nobody_waits_for_a_clock_that_was_ahead():
    waited: list[float] = []
    turn = timezone.now() + timedelta(days=1)
    CallPace.objects.create(endpoint="https://one.example", next_at=turn)

    pace(waited).wait()

    assert waited == [0]
    assert CallPace.objects.get().next_at < turn


def test_the_pause_doubles_until_a_call_is_answered():
    waited: list[float] = []
    mine, other = pace(waited), pace(waited)
    pauses = []
    for _ in range(8):
        mine.note_throttled()
        pauses.append(CallPace.objects.get().pause)

    other.wait()
    other.note_answered()

    assert [pause.total_seconds() for pause in pauses] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert 50 < waited[0] <= LONGEST_PAUSE.total_seconds()
    assert CallPace.objects.get().pause == NO_PAUSE


def test_a_sync_calls_at_the_pace_and_a_throttled_call_stops_all(requester, settings, monkeypatch):
    settings.MTURK_CALLS_PER_SECOND = 1000
    campaign = make_campaign(tasks=1)
    began = timezone.now()

    calls = reconcile(campaign).api_calls

    assert CallPace.objects.get().next_at >= began + timedelta(milliseconds=calls)
    marketplace = marketplace_of(campaign)
    monkeypatch.setattr(Marketplace, "_call_now", throttled)
    with pytest.raises(MarketplaceError):
        marketplace.balance()
    assert CallPace.objects.get().next_at > timezone.now()


def throttled(*_: object, **__: object) -> None:
    raise MarketplaceError("Too many calls.", "ThrottlingException", is_refusal=True)
