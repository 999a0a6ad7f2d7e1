"""Check whether a worker meets qualification requirements. Does not use Django.

A requirement is a mapping in the API's format. A worker's values are a mapping from the id of a
qualification type to an integer, a `Place`, or None if it was granted without a value.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from shared.countries import Place

NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
PERCENT_APPROVED = "000000000000000000L0"

MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30
LOCALE_COMPARATORS = {"EqualTo", "NotEqualTo", "In", "NotIn"}


class Action(IntEnum):
    """An action of a worker. A requirement for one also applies to the following ones."""

    DISCOVER = 1
    PREVIEW = 2
    ACCEPT = 3


_GUARDED_FROM = {
    "DiscoverPreviewAndAccept": Action.DISCOVER,
    "PreviewAndAccept": Action.PREVIEW,
    "Accept": Action.ACCEPT,
}


Value = int | Place | None
Requirement = Mapping[str, Any]

_INTEGER_TESTS: dict[str, Callable[[int, Sequence[int]], bool]] = {
    "LessThan": lambda value, wanted: value < wanted[0],
    "LessThanOrEqualTo": lambda value, wanted: value <= wanted[0],
    "GreaterThan": lambda value, wanted: value > wanted[0],
    "GreaterThanOrEqualTo": lambda value, wanted: value >= wanted[0],
    "EqualTo": lambda value, wanted: value == wanted[0],
    "NotEqualTo": lambda value, wanted: value != wanted[0],
    "In": lambda value, wanted: value in wanted,
    "NotIn": lambda value, wanted: value not in wanted,
}


def meets(
    requirement: Requirement, held: Mapping[str, Value], *, lacked_meets: Collection[str] = ()
) -> bool:
    """Whether the worker's values meet the requirement.

    A qualification that the worker lacks meets DoesNotExist and the comparators in `lacked_meets`.
    """
    comparator = requirement["Comparator"]
    has_it = requirement["QualificationTypeId"] in held
    if comparator == "Exists":
        return has_it
    if comparator == "DoesNotExist":
        return not has_it
    if not has_it:
        return comparator in lacked_meets
    value = held[requirement["QualificationTypeId"]]
    if isinstance(value, Place):
        is_inside = any(map(value.lies_in, places_of(requirement)))
        return is_inside if comparator in ("EqualTo", "In") else not is_inside
    if value is None:
        return False
    wanted = requirement.get("IntegerValues") or []
    return bool(wanted) and _INTEGER_TESTS[comparator](value, wanted)


def places_of(requirement: Requirement) -> list[Place]:
    """The requirement's LocaleValues."""
    return [
        Place(place["Country"], place.get("Subdivision") or "")
        for place in requirement.get("LocaleValues") or []
    ]


def guards(requirement: Requirement, action: Action) -> bool:
    """Whether the requirement applies to the action."""
    return action >= _GUARDED_FROM[actions_guarded(requirement)]


def actions_guarded(requirement: Requirement) -> str:
    """The requirement's ActionsGuarded, which older programs do not give."""
    otherwise = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return requirement.get("ActionsGuarded") or otherwise


def completed(requirement: Requirement) -> dict[str, Any]:
    """The requirement with the defaults that the service adds."""
    guarded = actions_guarded(requirement)
    return {
        **requirement,
        "RequiredToPreview": bool(requirement.get("RequiredToPreview")) or guarded != "Accept",
        "ActionsGuarded": guarded,
    }


def unmet(
    requirements: Iterable[Requirement],
    held: Mapping[str, Value],
    action: Action,
    *,
    lacked_meets: Collection[str] = (),
) -> list[Requirement]:
    """The requirements for the action that the worker does not meet."""
    return [
        requirement
        for requirement in requirements
        if guards(requirement, action) and not meets(requirement, held, lacked_meets=lacked_meets)
    ]


def problems(requirements: Sequence[Requirement]) -> list[str]:
    """What is wrong with a HIT type's requirements, as sentences; empty if they are valid."""
    problems = []
    if len(requirements) > MOST_REQUIREMENTS:
        problems.append(
            f"A HIT type has at most {MOST_REQUIREMENTS} qualification requirements; "
            f"{len(requirements)} were given."
        )
    for requirement in requirements:
        problems.extend(_problems_of_one(requirement))
    return problems


def _problems_of_one(requirement: Requirement) -> list[str]:
    comparator = requirement["Comparator"]
    integers = requirement.get("IntegerValues") or []
    locales = requirement.get("LocaleValues") or []
    problems = []
    if requirement.get("ActionsGuarded") and requirement.get("RequiredToPreview") is not None:
        problems.append("ActionsGuarded and RequiredToPreview cannot be used together.")
    if comparator in ("Exists", "DoesNotExist"):
        if integers or locales:
            problems.append(f"The comparator {comparator} takes no values.")
    elif requirement["QualificationTypeId"] == LOCALE:
        problems.extend(_locale_problems(comparator, integers, places_of(requirement)))
    else:
        problems.extend(_integer_problems(comparator, integers, locales))
    return problems


def _locale_problems(
    comparator: str, integers: Sequence[int], places: Sequence[Place]
) -> list[str]:
    if comparator not in LOCALE_COMPARATORS:
        return [f"The comparator {comparator} cannot be used with a locale."]
    if integers or not places:
        return ["A locale requirement needs LocaleValues, and no IntegerValues."]
    if comparator in ("EqualTo", "NotEqualTo") and len(places) != 1:
        return [f"The comparator {comparator} takes exactly one locale."]
    if len(places) > MOST_LOCALES:
        return [f"At most {MOST_LOCALES} locales can be given."]
    # No worker could ever meet it.
    return [
        f"{place} is no locale. Give the codes of ISO 3166 in capitals, such as US or US-PA."
        for place in places
        if not place.is_possible
    ]


def _integer_problems(
    comparator: str, integers: Sequence[int], locales: Sequence[Mapping[str, str]]
) -> list[str]:
    if locales or not integers:
        return [f"The comparator {comparator} needs IntegerValues, and no LocaleValues."]
    if comparator not in ("In", "NotIn") and len(integers) != 1:
        return [f"The comparator {comparator} takes exactly one integer."]
    if len(integers) > MOST_INTEGERS:
        return [f"At most {MOST_INTEGERS} integers can be given."]
    return []
