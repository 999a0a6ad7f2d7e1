"""What happens because time passes; every step is safe to repeat and to run twice at once."""

from datetime import datetime

from django.conf import settings

from marketplace.errors import DomainError
from marketplace.models import Assignment, AssignmentStatus, Hit, HitStatus

from . import hits, reviews
from .assignments import abandon

# So much is done in one go, so that a request that sets the sweep off does not wait for ever.
BATCH = 200


def sweep(*, at: datetime) -> int:
    """Do what is due: abandon, expire, approve, dispose; returns how many things were done."""
    return _abandon_overdue(at) + _expire_overdue(at) + _approve_overdue(at) + _dispose_overdue(at)


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
    overdue = Hit.objects.filter(is_expired=False, expires_at__lte=at).select_related("hit_type")
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
