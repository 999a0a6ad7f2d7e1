"""The system's qualification types for the API; they are not in the database."""

from datetime import UTC, datetime

from django.conf import settings

from marketplace import requirements
from marketplace.models import QualificationType

# The date on which Mechanical Turk opened.
_SINCE = datetime(2005, 11, 2, tzinfo=UTC)


def _all() -> list[QualificationType]:
    if not settings.MTURK_SYSTEM_TYPES_READABLE:
        return []
    described = [
        (
            requirements.NUMBER_APPROVED,
            "Worker_NumberHITsApproved",
            "Number of the worker's HITs that have been approved.",
        ),
        (
            requirements.LOCALE,
            "Worker_Locale",
            "The location that the worker has in their profile.",
        ),
        (
            requirements.ADULT,
            "Worker_Adult",
            "Whether the worker agreed to work that may be unsuitable for minors.",
        ),
        (
            requirements.PERCENT_APPROVED,
            "Worker_PercentAssignmentsApproved",
            "The share of the worker's reviewed assignments that were approved, in per cent.",
        ),
        *(
            (
                masters_id,
                "Masters",
                "Workers who have shown excellence across a wide range of HITs.",
            )
            for masters_id in settings.MTURK_MASTERS_IDS
        ),
    ]
    return [
        # Negative keys put them before all rows in a list.
        QualificationType(
            pk=place - len(described),
            public_id=public_id,
            name=name,
            description=description,
            created_at=_SINCE,
        )
        for place, (public_id, name, description) in enumerate(described)
    ]


def get(public_id: str) -> QualificationType | None:
    """The system type with this id, or None."""
    return next((each for each in _all() if each.public_id == public_id), None)


def found(query: str) -> list[QualificationType]:
    """The system types whose name or description contains every word of the query."""
    words = query.lower().split()
    return [
        each
        for each in _all()
        if all(word in f"{each.name} {each.description}".lower() for word in words)
    ]
