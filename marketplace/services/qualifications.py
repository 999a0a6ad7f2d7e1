"""Workers' qualifications: compute, check, grant and revoke them, and say why a worker does not
qualify."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.conf import settings
from django.db import transaction

from marketplace import requirements
from marketplace.errors import DoesNotExist, NotQualified, UnknownWorker
from marketplace.models import (
    AssignmentStatus,
    HitType,
    Message,
    Qualification,
    QualificationStatus,
    QualificationType,
    Worker,
)
from marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    Action,
    Requirement,
    Value,
    places_of,
)
from shared.countries import Place

# With fewer submitted assignments, an approval rate is not meaningful and counts as 100%.
RATE_COUNTS_FROM = 100
# As at Mechanical Turk, the worker does not see the requester's reason.
BLOCKED = (
    "This requester has blocked you, so you cannot preview or accept this requester's HITs. "
    "HITs of other requesters are not affected."
)


def system_type_ids() -> set[str]:
    """Ids of the qualification types that the marketplace computes itself."""
    return {NUMBER_APPROVED, PERCENT_APPROVED, LOCALE, ADULT, *settings.MTURK_MASTERS_IDS}


def system_values(worker: Worker) -> dict[str, Value]:
    """The worker's values of the qualification types that the marketplace computes."""
    values: dict[str, Value] = {
        NUMBER_APPROVED: worker.approved_count,
        PERCENT_APPROVED: _percent_approved(worker),
        ADULT: int(worker.is_adult),
    }
    if worker.country:
        values[LOCALE] = Place(worker.country, worker.subdivision)
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
    # Also of deleted types, because HITs may still refer to them.
    granted = worker.qualifications.filter(status=QualificationStatus.GRANTED)
    values = granted.values_list("qualification_type__public_id", "value")
    return system_values(worker) | dict(values)


def allowed(*, worker: Worker, hit_types: Iterable[HitType], action: Action) -> list[HitType]:
    """The HIT types, in their order, for which the worker may do the action."""
    held = held_by(worker)
    blocked_by = set(worker.blocks.values_list("requester_id", flat=True))
    return [
        hit_type
        for hit_type in hit_types
        if hit_type.requester_id not in blocked_by and not unmet(hit_type, held, action)
    ]


def unmet(hit_type: HitType, held: Mapping[str, Value], action: Action) -> list[Requirement]:
    """The HIT type's requirements for the action that a worker with these values does not meet."""
    wanted, lacked_meets = hit_type.qualification_requirements, settings.MTURK_LACKED_MEETS
    return requirements.unmet(wanted, held, action, lacked_meets=lacked_meets)


def is_blocked(*, worker: Worker, hit_type: HitType) -> bool:
    """Whether the HIT type's requester blocks the worker."""
    return worker.blocks.filter(requester=hit_type.requester_id).exists()


def refuse_unqualified(*, worker: Worker, hit_type: HitType, action: Action) -> None:
    """Raise NotQualified unless the worker meets the HIT type's requirements for the action."""
    missing = hit_type.qualification_requirements and unmet(hit_type, held_by(worker), action)
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
    """Grant the qualification to the worker, or change its value; raises UnknownWorker if the
    account is closed."""
    # Locked: an erasure at the same time would not find the row.
    if Worker.objects.select_for_update(no_key=True).get(pk=worker.pk).erased_at is not None:
        raise UnknownWorker(worker.public_id)
    qualification, _created = Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": QualificationStatus.GRANTED, "granted_at": at},
    )
    if notify:
        text = qualification_type.description
        tell(worker, "You were granted a qualification", qualification_type, text=text, at=at)
    return qualification


@transaction.atomic
def revoke(
    *, qualification_type: QualificationType, worker: Worker, at: datetime, reason: str = ""
) -> None:
    """Revoke the worker's qualification, with a reason that they read; raises DoesNotExist."""
    # An erasure locks the worker first, too.
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    held = worker.qualifications.filter(
        qualification_type=qualification_type, status=QualificationStatus.GRANTED
    )
    if not held.update(status=QualificationStatus.REVOKED):
        raise no_such_qualification()
    if reason:
        tell(worker, "A qualification was revoked", qualification_type, text=reason, at=at)


def tell(
    worker: Worker, what: str, qualification_type: QualificationType, *, text: str, at: datetime
) -> None:
    """Send the worker a message about the qualification on the requester's behalf."""
    Message.objects.create(
        requester=qualification_type.requester,
        worker=worker,
        subject=f"{what}: {qualification_type.name}"[:200],
        text=text,
        sent_at=at,
    )


# Why a worker does not qualify


ABOUT = {
    NUMBER_APPROVED: "Approved HITs",
    PERCENT_APPROVED: "Approval rate",
    LOCALE: "Country",
    ADULT: "Adult content",
}
WORDS = {
    "LessThan": "less than {}",
    "LessThanOrEqualTo": "at most {}",
    "GreaterThan": "more than {}",
    "GreaterThanOrEqualTo": "at least {}",
    "EqualTo": "{}",
    "NotEqualTo": "not {}",
    "In": "one of {}",
    "NotIn": "none of {}",
}


def names_of(requirements: Iterable[Requirement]) -> dict[str, str]:
    """The names of the requirements' qualification types, in one query."""
    types = QualificationType.objects.filter(
        public_id__in={requirement["QualificationTypeId"] for requirement in requirements}
    )
    masters = dict.fromkeys(settings.MTURK_MASTERS_IDS, "Masters")
    return {**masters, **dict(types.values_list("public_id", "name")), **ABOUT}


def asked_of_newcomers(hit_type: HitType) -> list[str]:
    """What a worker without a history lacks for HITs of this type, a few words for each."""
    missing = unmet(hit_type, system_values(Worker()), Action.ACCEPT)
    names = names_of(missing)
    return [
        " ".join(
            (
                _name(requirement, names),
                WORDS.get(requirement["Comparator"], "").format(_wanted(requirement)),
            )
        )
        for requirement in missing
    ]


def _sentence(requirement: Requirement, held: Mapping[str, Value], names: Mapping[str, str]) -> str:
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    name = _name(requirement, names)
    if type_id == ADULT:
        return "Adult content: your profile has to allow it."
    if comparator == "Exists":
        return f"{name}: needed. You do not have this qualification."
    if comparator == "DoesNotExist":
        return f"{name}: only for workers without this qualification. You have it."
    wanted = WORDS[comparator].format(_wanted(requirement))
    if type_id not in held:
        lacks = "Your profile has no country." if type_id == LOCALE else "You have no value."
        return f"{name}: {wanted}. {lacks}"
    return f"{name}: {wanted}. Yours: {_shown(held[type_id], type_id)}."


def _name(requirement: Requirement, names: Mapping[str, str]) -> str:
    return names.get(requirement["QualificationTypeId"], "A qualification of the requester")


def _wanted(requirement: Requirement) -> str:
    values = [*places_of(requirement), *(requirement.get("IntegerValues") or [])]
    return ", ".join(_shown(value, requirement["QualificationTypeId"]) for value in values)


def _shown(value: Value, type_id: str) -> str:
    if isinstance(value, Place):
        return str(value)
    if value is None:
        return "no value"
    return f"{value}%" if type_id == PERCENT_APPROVED else f"{value:,}"


def reasons_for(worker: Worker, hit_types: Iterable[HitType]) -> dict[int, list[str]]:
    """Why the worker cannot accept HITs of each of these types, by primary key.

    A type of a requester who blocks the worker has the sentence about that alone.
    """
    hit_types = list(hit_types)
    if not hit_types:
        return {}
    held = held_by(worker)
    missing = {hit_type.pk: unmet(hit_type, held, Action.ACCEPT) for hit_type in hit_types}
    names = names_of(
        requirement for requirements in missing.values() for requirement in requirements
    )
    return {
        pk: [_sentence(requirement, held, names) for requirement in requirements] or [BLOCKED]
        for pk, requirements in missing.items()
    }
