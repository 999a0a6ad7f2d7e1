"""The sweep: deadlines, and that it terminates."""

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from marketplace.api.calls import Call
from marketplace.api.dispatch import HANDLERS
from marketplace.errors import InvalidAssignmentState
from marketplace.models import Event, Hit, HitStatus, NotificationSetting
from marketplace.services import assignments, hits, reviews
from marketplace.services import sweep as sweeping
from marketplace.services.retention import forget
from marketplace.services.sweep import is_swept_by_the_clock, sweep, sweep_by_the_clock
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_worker

pytestmark = pytest.mark.django_db


def test_a_hit_that_was_deleted_before_its_expiry_is_not_swept_for_ever():
    hit = make_hit()
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    reviews.approve(assignment=assignment, at=NOON)
    hits.delete(hit=hit, at=NOON)

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


def test_work_that_was_due_is_not_rejected_although_no_sweep_has_come_to_it():
    """After a standstill there can be more of it than one sweep approves."""
    hit = make_hit()
    found = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=found, answer="<a/>", at=NOON)
    params = {"AssignmentId": found.public_id, "RequesterFeedback": "No."}
    call = Call(requester=hit.requester, params=params, at=NOON + timedelta(days=1))

    with pytest.raises(InvalidAssignmentState):
        HANDLERS["RejectAssignment"](call)

    found.refresh_from_db()
    assert (found.status, found.approved_at) == ("Approved", NOON + timedelta(days=1))


def test_a_late_automatic_approval_does_not_reopen_an_expired_hit():
    """As after a standstill: one slot was left when the HIT expired."""
    hit = make_hit(make_hit_type(auto_approval_delay=timedelta(minutes=30)), max_assignments=2)
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)

    sweep(at=NOON + timedelta(hours=2))
    sweep(at=NOON + timedelta(hours=3))

    assignment.refresh_from_db()
    assert assignment.approved_at == NOON + timedelta(minutes=30)
    assert hit_is_reviewable(hit)


def test_a_sweep_that_read_the_time_earlier_does_not_reopen_a_hit_that_expired_since():
    hit = make_hit(make_hit_type(auto_approval_delay=timedelta(minutes=5)), max_assignments=2)
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    late = NOON + timedelta(minutes=10)
    hits.update_expiration(hit=hit, expires_at=late, at=late)

    sweep(at=late - timedelta(seconds=1))

    assert hit_is_reviewable(hit)


def test_a_hit_that_is_approved_between_its_expiry_and_the_sweep_is_announced_too():
    """Otherwise its review policy would never be carried out either."""
    hit_type = make_hit_type()
    NotificationSetting.objects.create(
        hit_type=hit_type, destination="q", transport="SQS", version="2014-08-15",
        event_types=["HITExpired", "HITReviewable"], is_active=True,
    )  # fmt: skip
    hit = make_hit(hit_type, max_assignments=2)
    assignment = assignments.accept(worker=make_worker(), hit_type=hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    late = hit.expires_at + timedelta(milliseconds=500)

    reviews.approve(assignment=assignment, at=late)
    sweep(at=late)

    told = Event.objects.order_by("pk").values_list("body__EventType", flat=True)
    assert list(told) == ["HITExpired", "HITReviewable"]
    assert hit_is_reviewable(hit)


@pytest.mark.parametrize("is_swept", [True, False])
def test_an_added_slot_reopens_an_expired_hit_whether_a_sweep_has_met_it_or_not(settings, is_swept):
    settings.MTURK_SLOTS_REOPEN_EXPIRED = True
    hit = make_hit(lifetime=timedelta(minutes=5))
    later = NOON + timedelta(minutes=6)
    if is_swept:
        sweep(at=later)

    hits.add_assignments(hit=hit, count=1, at=later)
    sweep(at=later)

    hit.refresh_from_db()
    assert (hit.status, hit.available) == (HitStatus.ASSIGNABLE, 2)
    assert hit.expires_at > later


@pytest.fixture
def while_it_reads(monkeypatch):
    """Lets something happen after the sweep has read a kind of row, and before it acts."""

    def at(kind, happens) -> None:
        deadlines = [
            replace(each, act=lambda row, at, act=each.act: happens() or act(row, at))
            if each.due is kind
            else each
            for each in sweeping.DEADLINES
        ]
        monkeypatch.setattr(sweeping, "DEADLINES", deadlines)

    return at


def test_a_sweep_does_not_undo_an_extension(while_it_reads):
    hit = make_hit()
    due, longer = hit.expires_at, hit.expires_at + timedelta(hours=5)
    while_it_reads(
        sweeping._hits_to_expire,
        lambda: hits.update_expiration(hit=hit, expires_at=longer, at=due - timedelta(seconds=1)),
    )

    sweep(at=due)

    hit.refresh_from_db()
    assert (hit.status, hit.expires_at, hit.is_expired) == (HitStatus.ASSIGNABLE, longer, False)
    assert not Event.objects.filter(body__EventType="HITExpired").exists()


def test_a_sweep_does_not_dispose_of_a_hit_that_was_extended(while_it_reads, settings):
    hit = make_hit()
    assignment = assignments.accept(worker=make_worker(), hit_type=hit.hit_type, at=NOON)
    assignments.submit(assignment=assignment, answer="<a/>", at=NOON)
    reviews.approve(assignment=assignment, at=NOON)
    late = hit.expires_at + settings.MTURK_DISPOSE_AFTER
    while_it_reads(
        sweeping._hits_to_dispose_of,
        lambda: hits.update_expiration(hit=hit, expires_at=late + timedelta(hours=1), at=late),
    )

    sweep(at=late)

    hit.refresh_from_db()
    assert hit.status == HitStatus.REVIEWABLE


def test_old_hits_are_disposed_of_whatever_their_requesters_may_delete(settings):
    settings.MTURK_DELETABLE_HIT_STATUSES = ["Reviewable"]
    hit = make_hit()
    hits.expire(hit=hit, at=NOON)
    hits.update_review_status(hit=hit, revert=False)

    sweep(at=NOON + settings.MTURK_DISPOSE_AFTER)

    hit.refresh_from_db()
    assert hit.status == HitStatus.DISPOSED


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


def test_a_process_does_not_sweep_while_another_one_does(no_thread, monkeypatch, settings):
    settings.SWEEP_SECONDS = 1_000_000
    assignments.accept(worker=make_worker(), hit_type=make_hit().hit_type, at=NOON)
    monkeypatch.setattr(sweeping, "process_lock", lambda _: nullcontext(False))

    assert sweep_by_the_clock(at=NOON + timedelta(hours=2)) == 0

    assert not is_swept_by_the_clock()


def hit_is_reviewable(hit: Hit) -> bool:
    hit.refresh_from_db()
    return hit.status == HitStatus.REVIEWABLE


def test_an_error_in_one_hit_stops_no_other_hit(monkeypatch, caplog):
    """Its row comes first, stays due, and is named in the log."""
    bad, good = make_hit(lifetime=timedelta(minutes=5)), make_hit(lifetime=timedelta(minutes=6))
    expire = hits.expire

    def broken(*, hit, at):
        if hit == bad:
            raise ValueError("a policy that nobody can read")
        expire(hit=hit, at=at)

    with monkeypatch.context() as patch:
        patch.setattr(hits, "expire", broken)
        assert sweep(at=NOON + timedelta(hours=1)) == 1

    assert f"A deadline of marketplace.Hit {bad.pk} could not be met." in caplog.text
    assert list(Hit.objects.filter(is_expired=True)) == [good]
    assert sweep(at=NOON + timedelta(hours=1)) == 1
