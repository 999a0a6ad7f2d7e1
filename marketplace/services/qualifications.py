"""Workers' qualifications: compute, check, grant and revoke them."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.conf import settings
from django.db import transaction

from marketplace import queries, requirements
from marketplace.errors import DoesNotExist, NotQualified
from marketplace.models import (
    AssignmentStatus,
    HitType,
    Message,
    Qualification,
    QualificationStatus,
    QualificationType,
    Worker,
)
from marketplace.requirements import Action, Locale, Value

# With fewer submitted assignments, an approval rate is not meaningful and counts as 100%.
RATE_COUNTS_FROM = 100
# As at Mechanical Turk, the worker does not see the requester's reason.
BLOCKED = (
    "This requester has blocked you, so you cannot preview or accept this requester's HITs. "
    "HITs of other requesters are not affected."
)


def system_type_ids() -> set[str]:
    """Ids of the qualification types that the marketplace computes itself."""
    return {
        requirements.NUMBER_APPROVED,
        requirements.PERCENT_APPROVED,
        requirements.LOCALE,
        requirements.ADULT,
        *settings.MTURK_MASTERS_IDS,
    }


def system_values(worker: Worker) -> dict[str, Value]:
    """The worker's values of the qualification types that the marketplace computes."""
    values: dict[str, Value] = {
        requirements.NUMBER_APPROVED: worker.approved_count,
        requirements.PERCENT_APPROVED: _percent_approved(worker),
        requirements.ADULT: int(worker.is_adult),
    }
    if worker.country:
        values[requirements.LOCALE] = Locale(worker.country, worker.subdivision)
    if worker.is_master:
        values |= dict.fromkeys(settings.MTURK_MASTERS_IDS)
    return values


def _percent_approved(worker: Worker) -> int:
    reviewed = worker.approved_count + worker.rejected_count
    if not worker.rejected_count:
        return 100
    if reviewed < RATE_COUNTS_FROM:
        waiting = worker.assignments.filter(status=AssignmentStatus.SUBMITTED).count()
        if reviewed + waiting < RATE_COUNTS_FROM:
            return 100
    return worker.approved_count * 100 // reviewed


def held_by(worker: Worker) -> dict[str, Value]:
    """All the worker's qualifications, computed and granted, by the public id of the type."""
    return system_values(worker) | dict(queries.granted(worker))


def allowed(*, worker: Worker, hit_types: Iterable[HitType], action: Action) -> list[HitType]:
    """The HIT types, in their order, for which the worker may do the action."""
    held = held_by(worker)
    blocked_by = set(worker.blocks.values_list("requester_id", flat=True))
    return [
        hit_type
        for hit_type in hit_types
        if hit_type.requester_id not in blocked_by and not unmet(hit_type, held, action)
    ]


def unmet(
    hit_type: HitType, held: Mapping[str, Value], action: Action
) -> list[requirements.Requirement]:
    """The HIT type's requirements for the action that a worker with these values does not meet."""
    return requirements.unmet(
        hit_type.qualification_requirements,
        held,
        action,
        lacked_meets=settings.MTURK_LACKED_MEETS,
    )


def is_blocked(*, worker: Worker, hit_type: HitType) -> bool:
    """Whether the HIT type's requester blocks the worker."""
    return worker.blocks.filter(requester=hit_type.requester_id).exists()


def refuse_unqualified(*, worker: Worker, hit_type: HitType, action: Action) -> None:
    """Raise NotQualified unless the worker meets the HIT type's requirements for the action."""
    missing = unmet(hit_type, held_by(worker), action)
    if missing:
        raise NotQualified(
            f"You do not meet {len(missing)} of the qualification requirements of these HITs."
        )


def no_such_qualification() -> DoesNotExist:
    """The error for a qualification that the worker does not have. Programs check its text."""
    return DoesNotExist(
        "You requested a Qualification that does not exist.", code="QualificationDoesNotExist"
    )


@transaction.atomic
def grant(
    *,
    qualification_type: QualificationType,
    worker: Worker,
    value: int | None,
    at: datetime,
    notify: bool = False,
) -> Qualification:
    """Grant the qualification to the worker, or change its value."""
    qualification, _created = Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": QualificationStatus.GRANTED, "granted_at": at},
    )
    if notify:
        Message.objects.create(
            requester=qualification_type.requester,
            worker=worker,
            subject=f"You were granted a qualification: {qualification_type.name}"[:200],
            text=qualification_type.description,
            sent_at=at,
        )
    return qualification


@transaction.atomic
def revoke(
    *, qualification_type: QualificationType, worker: Worker, at: datetime, reason: str = ""
) -> None:
    """Revoke the worker's qualification, with a reason that they read; raises DoesNotExist."""
    held = worker.qualifications.filter(
        qualification_type=qualification_type, status=QualificationStatus.GRANTED
    )
    if not held.update(status=QualificationStatus.REVOKED):
        raise no_such_qualification()
    if reason:
        Message.objects.create(
            requester=qualification_type.requester,
            worker=worker,
            subject=f"A qualification was revoked: {qualification_type.name}"[:200],
            text=reason,
            sent_at=at,
        )
