"""The longer queries and changes that each accepted, submitted and approved HIT needs.

They are plain SQL, because Django takes much longer to build them than the database to carry them
out.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import connection
from django.db.models.expressions import RawSQL

from marketplace.models import Assignment, Hit, HitType, Worker

# The latest assignments of a worker that are counted, so that the query is bounded. Most workers do
# fewer a day.
READ = 300

# What a worker may accept


class Standing(NamedTuple):
    """The facts, besides qualifications, that decide whether and where a worker may accept a
    HIT."""

    is_blocked: bool
    in_queue: int  # the worker's accepted assignments
    last_hit: int | None  # the HIT of the worker's latest assignment


_STANDING = """
SELECT EXISTS (
           SELECT 1 FROM marketplace_workerblock
           WHERE worker_id = %(worker)s AND requester_id = %(requester)s),
       (SELECT count(*) FROM marketplace_assignment
        WHERE worker_id = %(worker)s AND status = 'Accepted' AND deadline > %(at)s),
       (SELECT hit_id FROM marketplace_assignment
        WHERE worker_id = %(worker)s ORDER BY id DESC LIMIT 1)
"""


def standing(worker: Worker, requester_id: int, at: datetime) -> Standing:
    values = {"worker": worker.pk, "requester": requester_id, "at": _stored(at)}
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, values)
        return Standing(*cursor.fetchone())


def _stored(at: datetime) -> Any:
    """The time as the database stores it, for a statement in plain SQL."""
    return connection.ops.adapt_datetimefield_value(at)


# The HIT that a worker gets

# The expression keeps SQLite from using the index on the expiry, which would find all rows and sort
# them before returning the first. The offset keeps PostgreSQL from joining all assignments of the
# group, where a look at the worker's assignment of the first HIT will do.
NEXT_HIT = """
SELECT * FROM marketplace_hit AS hit
WHERE hit_type_id = %(hit_type)s AND id > %(after)s AND status = 'Assignable' AND available > 0
  AND COALESCE(expires_at, created_at) > %(at)s
  AND NOT EXISTS (
      SELECT 1 FROM marketplace_assignment
      WHERE hit_id = hit.id AND worker_id = %(worker)s
        AND status NOT IN ('Returned', 'Abandoned')
      LIMIT 1 OFFSET 0)
ORDER BY id LIMIT 1
"""


def next_hit(worker: Worker, hit_type: HitType, *, after: int, at: datetime) -> Hit | None:
    """The first open HIT of the type after the given key that the worker has not done."""
    values = {"hit_type": hit_type.pk, "after": after, "at": _stored(at), "worker": worker.pk}
    return next(iter(Hit.objects.raw(NEXT_HIT, values)), None)


# A single UPDATE, so that concurrent changes are not lost. Constraints of the table ensure that
# counts add up and are not negative. Only the expiry closes a HIT with slots left, because it also
# announces this.
_MOVE = """
UPDATE marketplace_hit
SET available = available + %(available)s,
    pending = pending + %(pending)s,
    completed = completed + %(completed)s,
    unreviewed = unreviewed + %(unreviewed)s,
    max_assignments = max_assignments + %(slots)s,
    status = CASE
        WHEN NOT is_expired AND available + %(available)s > 0 THEN 'Assignable'
        WHEN pending + %(pending)s > 0 THEN 'Unassignable'
        WHEN status = 'Reviewing' THEN 'Reviewing'
        ELSE 'Reviewable' END
WHERE id = %(hit)s AND status <> 'Disposed'
"""
# The worker's qualifications and share were checked for this type.
_IF_OPEN = """
AND status = 'Assignable' AND available > 0 AND expires_at > %(at)s AND hit_type_id = %(hit_type)s
"""
_IF_UNCHANGED = "AND hit_type_id = %(hit_type)s AND fee = %(fee)s"


def move(
    hit: int, *, available: int = 0, pending: int = 0, completed: int = 0, unreviewed: int = 0,
    slots: int = 0,
) -> str:  # fmt: skip
    """Change a HIT's counts by these numbers, and its status with them; return that status, or an
    empty text if the HIT is disposed."""
    return _move(
        _MOVE, hit=hit, available=available, pending=pending, completed=completed,
        unreviewed=unreviewed, slots=slots,
    )  # fmt: skip


def take_slot(hit: Hit, at: datetime) -> bool:
    """Take a slot for a worker; return False if the HIT is closed or of another type by now."""
    values = {"hit": hit.pk, "hit_type": hit.hit_type_id}
    return bool(_move(_MOVE + _IF_OPEN, at=_stored(at), available=-1, pending=1, **values))


def move_approved(hit: Hit) -> bool:
    """Count an assignment as approved; return False if the HIT's reward or fee was changed since
    the HIT was read."""
    fee = Hit._meta.get_field("fee").get_prep_value(hit.fee)
    values = {"hit_type": hit.hit_type_id, "fee": fee}
    return bool(_move(_MOVE + _IF_UNCHANGED, hit=hit.pk, unreviewed=-1, completed=1, **values))


def _move(statement: str, **values: Any) -> str:
    steps = dict.fromkeys(("available", "pending", "completed", "unreviewed", "slots"), 0)
    with connection.cursor() as cursor:
        cursor.execute(f"{statement} RETURNING status", {**steps, **values})
        row = cursor.fetchone()
    return str(row[0]) if row else ""


# Assignments


_TAKES_PART = """
EXISTS (SELECT 1 FROM marketplace_participation WHERE worker_id = marketplace_assignment.worker_id)
"""


def assignment_of_page(public_id: str, *related: str) -> Assignment | None:
    """The assignment with its HIT, the HIT's type and the worker, and what else the page reads.
    PostgreSQL takes longer to plan each further join than to look up a row."""
    return (
        Assignment.objects.filter(public_id=public_id)
        .annotate(may_be_in_study=RawSQL(_TAKES_PART, []))  # type: ignore[no-redef]
        .select_related("hit__hit_type", "worker", *related)
        .first()
    )


_RECENT_WORK = """
SELECT count(*), COALESCE(sum(hit_type.reward), 0)
FROM (SELECT hit_id, status, submitted_at FROM marketplace_assignment
      WHERE worker_id = %(worker)s ORDER BY id DESC LIMIT %(read)s) AS latest
JOIN marketplace_hit AS hit ON hit.id = latest.hit_id
JOIN marketplace_hittype AS hit_type ON hit_type.id = hit.hit_type_id
WHERE latest.status IN ('Submitted', 'Approved') AND latest.submitted_at > %(since)s
"""


def recent_work(worker: Worker, since: datetime) -> tuple[int, Decimal]:
    """The number of HITs that the worker submitted since then and that are not rejected, and the
    sum of their rewards."""
    values = {"worker": worker.pk, "read": READ, "since": _stored(since)}
    with connection.cursor() as cursor:
        cursor.execute(_RECENT_WORK, values)
        number, cents = cursor.fetchone()
    return number, Decimal(cents).scaleb(-2)
