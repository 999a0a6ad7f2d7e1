"""Why a worker does not qualify: each requirement that is not met, with the worker's own value."""

from collections.abc import Iterable, Mapping

from django.conf import settings

from marketplace.models import HitType, QualificationType, Worker
from marketplace.requirements import (
    ADULT,
    LOCALE,
    NUMBER_APPROVED,
    PERCENT_APPROVED,
    Action,
    Locale,
    Requirement,
    Value,
)
from marketplace.services.qualifications import BLOCKED, held_by, system_values, unmet

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
    found = QualificationType.objects.filter(
        public_id__in={each["QualificationTypeId"] for each in requirements}
    )
    masters = dict.fromkeys(settings.MTURK_MASTERS_IDS, "Masters")
    return {**masters, **dict(found.values_list("public_id", "name")), **ABOUT}


def sentences(
    requirements: Iterable[Requirement],
    held: Mapping[str, Value],
    names: Mapping[str, str],
) -> list[str]:
    """A sentence for each requirement that a worker with these values does not meet."""
    return [_sentence(each, held, names) for each in requirements]


def asked_of_newcomers(hit_type: HitType) -> list[str]:
    """What a worker without a history lacks for HITs of this type, a few words for each."""
    missing = unmet(hit_type, system_values(Worker()), Action.ACCEPT)
    names = names_of(missing)
    return [
        " ".join((_name(each, names), WORDS.get(each["Comparator"], "").format(_wanted(each))))
        for each in missing
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
    places = [
        Locale(place["Country"], place.get("Subdivision") or "")
        for place in requirement.get("LocaleValues") or []
    ]
    values: list[Value] = [*places, *(requirement.get("IntegerValues") or [])]
    return ", ".join(_shown(value, requirement["QualificationTypeId"]) for value in values)


def _shown(value: Value, type_id: str) -> str:
    if isinstance(value, Locale):
        return "-".join(part for part in value if part)
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
    missing = {each.pk: unmet(each, held, Action.ACCEPT) for each in hit_types}
    names = names_of(one for found in missing.values() for one in found)
    return {each.pk: sentences(missing[each.pk], held, names) or [BLOCKED] for each in hit_types}
