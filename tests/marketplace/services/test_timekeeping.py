"""Which of several processes keeps the time."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from marketplace.models import Timekeeper
from marketplace.services import assignments, timekeeping
from marketplace.services import sweep as sweeping
from marketplace.services.sweep import is_swept_by_the_clock, sweep_by_the_clock
from tests.marketplace.factories import NOON, make_hit, make_worker

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite serves one process"),
]


@pytest.fixture(autouse=True)
def two_processes(monkeypatch, settings):
    """Steps of one process or the other; each trusts a sweep of a day ago."""
    settings.SWEEP_SECONDS = 24 * 3600
    monkeypatch.setattr(sweeping._Thread, "began", None)

    def act_as(name):
        monkeypatch.setattr(timekeeping, "_holder", lambda: name)
        sweeping._Thread.began = None

    return act_as


def test_one_process_keeps_the_time_and_the_other_does_not(two_processes):
    for name, keeps in (("first", True), ("second", False), ("first", True), ("second", False)):
        two_processes(name)
        assert timekeeping.keep_time() == keeps


def test_the_lease_of_a_killed_process_ends(two_processes):
    two_processes("first")
    timekeeping.keep_time()
    Timekeeper.objects.update(began_at=F("began_at") - timekeeping.LEASE)

    two_processes("second")

    assert timekeeping.keep_time()
    two_processes("first")
    assert not timekeeping.keep_time()


def test_a_process_trusts_the_sweeps_of_another_while_they_are_in_time(two_processes):
    two_processes("first")
    sweep_by_the_clock(at=NOON)
    two_processes("second")

    assert sweep_by_the_clock(at=NOON) == 0

    assert is_swept_by_the_clock()
    Timekeeper.objects.update(began_at=timezone.now(), swept_at=timezone.now() - timedelta(days=4))
    sweep_by_the_clock(at=NOON)
    assert not is_swept_by_the_clock()


def test_a_process_does_not_trust_a_sweep_that_may_have_left_something(two_processes):
    assignments.accept(worker=make_worker(), hit_type=make_hit().hit_type, at=NOON)
    two_processes("first")
    assert sweep_by_the_clock(at=NOON + timedelta(hours=2)) == 2
    two_processes("second")

    sweep_by_the_clock(at=NOON + timedelta(hours=2))

    assert not is_swept_by_the_clock()
