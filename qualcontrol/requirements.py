"""Qualification requirements of a campaign's HITs, in MTurk's structure.

The ids of the system qualifications are the same in production and sandbox, except Masters.
"""

from typing import Any

from annotate.campaign_file import Workers
from corpora.errors import DomainError

NUMBER_HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
PERCENT_ASSIGNMENTS_APPROVED = "000000000000000000L0"
MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS_IN_SANDBOX = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"

# MTurk's limit for the locales of one requirement.
MOST_COUNTRIES = 30


def qualification_requirements(
    workers: Workers, *, exclusion_type_id: str, endpoint: str
) -> list[dict[str, Any]]:
    """The requirements of a campaign's HIT type. Raises DomainError for too many countries.

    System requirements guard accepting only, so that workers see which one they lack. The exclusion
    hides the campaign's HITs.
    """
    requirements: list[dict[str, Any]] = []
    if workers.countries:
        requirements.append(_country(workers.countries))
    if workers.approved_hits:
        requirements.append(
            _requirement(
                NUMBER_HITS_APPROVED, "GreaterThanOrEqualTo", IntegerValues=[workers.approved_hits]
            )
        )
    if workers.approval_rate:
        requirements.append(
            _requirement(
                PERCENT_ASSIGNMENTS_APPROVED, "GreaterThan", IntegerValues=[workers.approval_rate]
            )
        )
    if workers.masters:
        masters = MASTERS_IN_SANDBOX if endpoint == "sandbox" else MASTERS
        requirements.append(_requirement(masters, "Exists"))
    requirements.append(
        _requirement(exclusion_type_id, "DoesNotExist", guarded="DiscoverPreviewAndAccept")
    )
    return requirements


def _country(countries: tuple[str, ...]) -> dict[str, Any]:
    unique = sorted(set(countries))
    if len(unique) > MOST_COUNTRIES:
        raise DomainError(
            f"workers.countries names {len(unique)} countries; the marketplace allows at most "
            f"{MOST_COUNTRIES}. Leave the key empty to let workers of every country in."
        )
    comparator = "EqualTo" if len(unique) == 1 else "In"
    return _requirement(
        LOCALE, comparator, LocaleValues=[{"Country": country} for country in unique]
    )


def _requirement(
    qualification: str, comparator: str, *, guarded: str = "Accept", **values: Any
) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification,
        "Comparator": comparator,
        "ActionsGuarded": guarded,
        **values,
    }
