"""What happens because time passes; every step is safe to repeat and to run twice at once."""

from datetime import datetime, timedelta

from django.conf import settings

from marketplace.errors import DomainError
from marketplace.models import Assignment, AssignmentStatus, Hit, HitStatus

from . import hits, reviews
from .activity import forget_old_activity
from .assignments import abandon
from .attempts import forget_old_attempts
from .links import forget_expired_links
from .review_policies import apply_due_policies

# So much is done in one go, so that a request that sets the sweep off does not wait for ever.
BATCH = 200
# A reader may be this much behind the clock; the writers check every deadline themselves.
LAG = timedelta(milliseconds=250)
_last_caught_up: datetime | None = None


def sweep(*, at: datetime) -> int:
    """Do what is due: abandon, expire, approve, dispose, forget; returns how many were done."""
    return (
        _abandon_overdue(at)
        + _expire_overdue(at)
        + apply_due_policies(at=at)
        + _approve_overdue(at)
        + _dispose_overdue(at)
        + forget_old_attempts(at=at)
        + forget_expired_links(at=at)
        + forget_old_activity(at=at)
    )


def catch_up(*, at: datetime) -> None:
    """Do what is due unless this process did so a moment ago: for those who are about to read."""
    global _last_caught_up
    if _last_caught_up is None or abs(at - _last_caught_up) >= LAG:
        _last_caught_up = at
        sweep(at=at)


def _abandon_overdue(at: datetime) -> int:
    overdue = (
        Assignment.objects.accepted()
        .filter(deadline__lte=at)
        .select_related("hit__hit_type", "worker")
    )
    return sum(
        abandon(assignment=assignment, at=at) for assignment in overdue.order_by("deadline")[:BATCH]
    )


def _expire_overdue(at: datetime) -> int:
    # `IN (false)`, because SQLite finds no index for `NOT is_expired`.
    overdue = Hit.objects.undisposed().filter(is_expired__in=[False], expires_at__lte=at)
    overdue = overdue.select_related("hit_type")
    done = 0
    for hit in overdue.order_by("expires_at")[:BATCH]:
        hits.expire(hit=hit, at=at)
        done += 1
    return done


def _approve_overdue(at: datetime) -> int:
    overdue = Assignment.objects.filter(
        status=AssignmentStatus.SUBMITTED, auto_approval_at__lte=at
    ).select_related("hit__hit_type", "hit__requester", "worker")
    done = 0
    for assignment in overdue.order_by("auto_approval_at")[:BATCH]:
        done += _unless_raced(
            reviews.approve, assignment=assignment, at=assignment.auto_approval_at
        )
    return done


def _dispose_overdue(at: datetime) -> int:
    overdue = Hit.objects.filter(
        status__in=[HitStatus.REVIEWABLE, HitStatus.REVIEWING],
        expires_at__lte=at - settings.MTURK_DISPOSE_AFTER,
        unreviewed=0,
    )
    return sum(_unless_raced(hits.dispose, hit=hit, at=at) for hit in overdue[:BATCH])


def _unless_raced(step, **arguments) -> int:
    """Run the step; 0 if a requester was quicker and there is nothing left to do."""
    try:
        step(**arguments)
    except DomainError:
        return 0
    return 1
