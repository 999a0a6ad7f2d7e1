"""The sweep: deadlines, and that it terminates."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.models import Hit, HitStatus
from marketplace.services import assignments, hits, reviews
from marketplace.services import sweep as sweeping
from marketplace.services.retention import forget
from marketplace.services.sweep import is_swept_by_the_clock, sweep, sweep_by_the_clock
from tests.marketplace.factories import NOON, make_hit, make_worker

pytestmark = pytest.mark.django_db


def test_a_hit_that_was_deleted_before_its_expiry_is_not_swept_for_ever():
    hit = make_hit()
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    reviews.approve(assignment=assignment, at=NOON)
    hits.dispose(hit=hit, at=NOON)

    assert sweep(at=NOON + timedelta(hours=2)) == 0
    # A row that was disposed of before disposal ended its expiry, too.
    Hit.objects.update(is_expired=False)
    assert sweep(at=NOON + timedelta(hours=2)) == 0


def test_a_sweep_with_nothing_to_do_only_reads():
    """Any write, even one that changes nothing, waits for all other writers."""
    assignments.accept(worker=make_worker(), hit_type=make_hit().hit_type, at=NOON)

    with CaptureQueriesContext(connection) as queries:
        assert sweep(at=NOON) == 0
        assert forget(at=NOON) == 0

    assert [each["sql"] for each in queries if not each["sql"].startswith("SELECT")] == []


def test_a_call_sweeps_what_its_own_requester_could_see():
    mine, other = make_hit(), make_hit()
    for hit in (mine, other):
        assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    later = NOON + timedelta(hours=2)

    assert sweep(at=later, requester=mine.requester) == 2

    assert hit_is_reviewable(mine)
    assert not hit_is_reviewable(other)
    assert sweep(at=later) == 2
    assert hit_is_reviewable(other)


@pytest.fixture
def no_thread(monkeypatch):
    """No thread of the server has swept in this process."""
    monkeypatch.setattr(sweeping._Thread, "began", None)


def test_a_call_trusts_the_servers_thread_while_it_is_in_time(no_thread, settings):
    assert not is_swept_by_the_clock()

    settings.SWEEP_SECONDS = 1_000_000
    sweep_by_the_clock(at=NOON)

    assert is_swept_by_the_clock()
    settings.SWEEP_SECONDS = 0
    assert not is_swept_by_the_clock()


def test_a_sweep_that_may_have_left_something_is_not_trusted(no_thread, settings):
    settings.SWEEP_SECONDS = 1_000_000
    assignments.accept(worker=make_worker(), hit_type=make_hit().hit_type, at=NOON)

    assert sweep_by_the_clock(at=NOON + timedelta(hours=2)) == 2

    assert not is_swept_by_the_clock()


def hit_is_reviewable(hit: Hit) -> bool:
    hit.refresh_from_db()
    return hit.status == HitStatus.REVIEWABLE
