"""The queries and changes that each accepted, submitted and approved HIT needs, compiled once.

They return lists, also where there is at most one row.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum

from marketplace.models import (
    LIVE,
    Assignment,
    AssignmentStatus,
    Hit,
    HitStatus,
    HitType,
    Message,
    Participation,
    Qualification,
    QualificationStatus,
    Requester,
    Worker,
    WorkerBlock,
)
from shared.prepared import Change, prepared, prepared_update

# The latest assignments of a worker that are counted, so that the query is bounded. Most workers do
# fewer a day.
READ = 300
NOT_REJECTED = (AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED)

# Sessions


@prepared
def sessions(key: Any, at: Any) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


@prepared
def workers_signed_in(worker: Any, number: Any) -> QuerySet[Worker]:
    return Worker.objects.filter(pk=worker, sign_in_number=number)


@prepared
def requesters_with_key(key: Any) -> QuerySet[Requester]:
    return Requester.objects.filter(access_key=key)


# What a worker may accept


@prepared
def groups_known_as(public_id: Any) -> QuerySet[HitType]:
    known = HitType.objects.known_as(public_id)
    return known.select_related("requester", "notification_setting")


@prepared
def locked_workers(worker: Any) -> QuerySet[Worker]:
    return Worker.objects.select_for_update().filter(pk=worker)


@prepared
def blocks(worker: Any, requester: Any) -> QuerySet[WorkerBlock]:
    return WorkerBlock.objects.filter(worker=worker, requester=requester)


@prepared
def granted(worker: Any) -> QuerySet[Any, tuple[str, int | None]]:
    """Public ids of qualification types and the worker's values. Also of deleted types, because
    HITs may still refer to them."""
    held = Qualification.objects.filter(worker=worker, status=QualificationStatus.GRANTED)
    return held.values_list("qualification_type__public_id", "value")


@prepared
def standings(worker: Any, requester: Any, at: Any) -> QuerySet[Any, Any]:
    """Whether the requester blocks the worker, the number of the worker's accepted assignments
    (None for 0), and the HIT of the worker's latest assignment (None without one)."""
    own = Assignment.objects.filter(worker=OuterRef("pk"))
    accepted = own.in_time(at).order_by().values("worker").annotate(number=Count("pk"))
    blocks = WorkerBlock.objects.filter(worker=OuterRef("pk"), requester=requester)
    return (
        Worker.objects.filter(pk=worker)
        .annotate(
            is_blocked=Exists(blocks),
            in_queue=Subquery(accepted.values("number")),
            last_hit=Subquery(own.order_by("-pk").values("hit_id")[:1]),
        )
        .values_list("is_blocked", "in_queue", "last_hit")
    )


# The HIT that a worker gets


@prepared
def last_hits(worker: Any) -> QuerySet[Any, int]:
    mine = Assignment.objects.filter(worker=worker).order_by("-pk")
    return mine.values_list("hit_id", flat=True)[:1]


@prepared
def next_hits(worker: Any, hit_type: Any, after: Any, at: Any) -> QuerySet[Hit]:
    """The first open HIT of the type after the given key that the worker has not done."""
    mine = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, status__in=LIVE)
    todo = Hit.objects.filter(hit_type=hit_type, pk__gt=after).open_in_order(at)
    return todo.exclude(Exists(mine))[:1]


@prepared_update
def take_slot(hit: Any, at: Any) -> Change:
    rows = Hit.objects.open_at(at).filter(pk=hit)
    return rows.undisposed(), rows.moved(at=at, available=-1, pending=1)


# Assignments


@prepared
def assignments_of_page(public_id: Any) -> QuerySet[Assignment]:
    in_study = Participation.objects.filter(
        worker=OuterRef("worker"),
        study__hit_type=OuterRef("hit__hit_type"),
        started_at__lte=OuterRef("accepted_at"),
    )
    return (
        Assignment.objects.filter(public_id=public_id)
        .annotate(may_be_in_study=Exists(in_study))  # type: ignore[no-redef]
        .select_related("hit__hit_type__requester", "hit__hit_type__notification_setting", "worker")
    )


@prepared
def assignments_of_requester(requester: Any, public_id: Any) -> QuerySet[Assignment]:
    found = Assignment.objects.filter(hit__requester=requester, public_id=public_id)
    return found.select_related(
        "hit__hit_type__notification_setting", "hit__layout", "hit__requester", "worker"
    )


@prepared
def participations_for(worker: Any, hit_type: Any, accepted_at: Any) -> QuerySet[Participation]:
    """The worker's latest participation that an assignment accepted at this time counts for."""
    mine = Participation.objects.filter(
        worker=worker, study__hit_type=hit_type, started_at__lte=accepted_at
    )
    return mine.select_related("study__hit_type", "worker").order_by("-pk")[:1]


@prepared
def recent_work(worker: Any, since: Any) -> QuerySet[Any, Any]:
    """The number of HITs that the worker submitted since then and that are not rejected, and the
    sum of their rewards, as the only row; none for 0."""
    latest = Assignment.objects.filter(worker=worker).order_by("-pk").values("pk")[:READ]
    recent = Assignment.objects.filter(
        pk__in=latest, status__in=NOT_REJECTED, submitted_at__gt=since
    )
    by_worker = recent.order_by().values("worker")
    totals = by_worker.annotate(number=Count("pk"), reward=Sum("hit__hit_type__reward"))
    return totals.values_list("number", "reward")


@prepared
def numbers_of_unread_messages(worker: Any) -> QuerySet[Any, int]:
    """The number of the worker's unread messages, as the only row; none for 0."""
    unread = Message.objects.filter(worker=worker, read_at=None).order_by()
    return unread.values("worker").annotate(number=Count("pk")).values_list("number", flat=True)


# HITs


@prepared
def hits_of_requester(requester: Any, public_id: Any) -> QuerySet[Hit]:
    found = Hit.objects.filter(requester=requester, public_id=public_id)
    return found.select_related("hit_type", "layout", "requester")


@prepared
def locked_hits(hit: Any) -> QuerySet[Hit]:
    rows = Hit.objects.select_for_update(of=("self",)).select_related("hit_type", "requester")
    return rows.filter(pk=hit)


def move_hit(hit: int, *, at: Any, **steps: int) -> int:
    """As `HitQuerySet.move`, of one HIT."""
    return _move_by(**steps)(hit=hit, at=at)


@cache
def _move_by(**steps: int) -> Callable[..., int]:
    @prepared_update
    def move(hit: Any, at: Any) -> Change:
        rows = Hit.objects.filter(pk=hit)
        return rows.undisposed(), rows.moved(at=at, **steps)

    return move


@prepared
def reviewable_hits(hit: Any) -> QuerySet[Any, int]:
    rows = Hit.objects.filter(pk=hit, status=HitStatus.REVIEWABLE)
    return rows.values_list("pk", flat=True)


@prepared_update
def submit_assignment(assignment: Any, answer: Any, at: Any, auto_approval_at: Any) -> Change:
    return Assignment.objects.in_time(at).filter(pk=assignment), {
        "status": AssignmentStatus.SUBMITTED,
        "submitted_at": at,
        "ended_at": at,
        "auto_approval_at": auto_approval_at,
        "answer": answer,
    }


@prepared_update
def approve_assignment(assignment: Any, feedback: Any, at: Any) -> Change:
    submitted = Q(pk=assignment, status=AssignmentStatus.SUBMITTED)
    return Assignment.objects.filter(submitted), {
        "status": AssignmentStatus.APPROVED,
        "approved_at": at,
        "requester_feedback": feedback,
    }


@prepared_update
def count_approval(worker: Any) -> Change:
    return Worker.objects.filter(pk=worker), {"approved_count": F("approved_count") + 1}
