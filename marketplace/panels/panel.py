"""What the site knows of a panel, and Prolific's JSON for it. Does not use models.

Amounts are Decimals in the panel's currency, with two places; in the JSON, cents. The shapes are
those of the reference at https://docs.prolific.com/api-reference.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

from marketplace.errors import DomainError

NOTHING = Decimal("0.00")
# The status of a draft. A study's other ones are only shown.
UNPUBLISHED = "UNPUBLISHED"
# The longest text of a panel's that is stored or shown.
LONGEST_PROBLEM = 300
# No study's code is longer; participants may type anything.
LONGEST_CODE = 100


class PanelRefused(DomainError):
    """The panel refused the request, and changed nothing."""


class PanelNotFound(PanelRefused):
    """The panel does not have the object that the request names."""


class PanelUnclear(DomainError):
    """No answer came, or one that does not tell whether the request had its effect."""


class StudyAction(StrEnum):
    PUBLISH = "PUBLISH"
    PAUSE = "PAUSE"
    START = "START"
    STOP = "STOP"


class SubmissionStatus(StrEnum):
    RESERVED = "RESERVED"
    ACTIVE = "ACTIVE"
    AWAITING_REVIEW = "AWAITING REVIEW"
    APPROVED = "APPROVED"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED"
    RETURNED = "RETURNED"
    REJECTED = "REJECTED"
    SCREENED_OUT = "SCREENED OUT"
    TIMED_OUT = "TIMED-OUT"
    UNKNOWN = "UNKNOWN"


class CodeKind(StrEnum):
    """What a participant says with a completion code."""

    COMPLETED = "completed"
    NO_WORK = "no work"
    NO_CONSENT = "no consent"
    FAILED_CHECK = "failed check"
    SCREENED_OUT = "screened out"


@dataclass(frozen=True)
class StudyThere:
    id: str
    status: str
    places: int


@dataclass(frozen=True)
class SubmissionThere:
    id: str
    participant: str
    status: str
    started_at: datetime
    completed_at: datetime | None = None
    code: str = ""
    return_requested_at: datetime | None = None


@dataclass(frozen=True)
class Spent:
    """What a study has cost at the panel until now."""

    rewards: Decimal = NOTHING
    reward_fees: Decimal = NOTHING
    reward_tax: Decimal = NOTHING
    bonuses: Decimal = NOTHING
    bonus_fees: Decimal = NOTHING
    bonus_tax: Decimal = NOTHING

    @property
    def total(self) -> Decimal:
        return sum(vars(self).values(), NOTHING)


@dataclass(frozen=True)
class BonusesSetUp:
    """Bonuses that the panel pays when it is asked to, with its charges for them."""

    id: str
    amount: Decimal
    fees: Decimal = NOTHING
    tax: Decimal = NOTHING


@dataclass(frozen=True)
class Subscription:
    """The panel's promise to send a hook to this address when something of this kind happens."""

    id: str
    event: str
    address: str
    is_enabled: bool


CENT = Decimal("0.01")
DEVICES = ("desktop", "tablet", "mobile")
# Categories of a rejection, in the reference's order, with words for the operator's page.
REJECTION_CATEGORIES = {
    "TOO_QUICKLY": "Too quick",
    "TOO_SLOWLY": "Too slow",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions",
    "INCOMP_LONGITUDINAL": "Did not complete a study of several parts",
    "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Low effort",
    "MALINGERING": "Malingering",
    "NO_CODE": "No completion code",
    "BAD_CODE": "Wrong completion code",
    "NO_DATA": "No data",
    "UNSUPP_DEVICE": "Unsupported device",
    "OTHER": "Other",
}
LEAST_REJECTION = 100
FAILED_CHECK = "FAILED_CHECK"
_IDENTIFIER = re.compile(r"\b[0-9a-f]{24}\b")
RETURN_REASONS = {
    CodeKind.NO_WORK: "There was no work left in the study.",
    CodeKind.NO_CONSENT: "You did not consent to take part.",
    CodeKind.FAILED_CHECK: "The question on the instructions was not answered correctly.",
}
CODE_TYPES = {
    CodeKind.COMPLETED: "COMPLETED",
    CodeKind.NO_WORK: "OTHER",
    CodeKind.NO_CONSENT: "NO_CONSENT",
    # Not FAILED_ATTENTION_CHECK: a comprehension check does not justify a rejection.
    CodeKind.FAILED_CHECK: "OTHER",
    CodeKind.SCREENED_OUT: "FIXED_SCREENOUT",
}


def cents(amount: Decimal) -> int:
    return int((amount * 100).to_integral_value(ROUND_HALF_UP))


def amount(number: Any) -> Decimal:
    """Cents, which may be a JSON number with a fraction, as an amount with two places."""
    return (Decimal(str(number or 0)) / 100).quantize(CENT, ROUND_HALF_UP)


def least_allowed_minutes(estimated: float) -> int:
    """The shortest time after which Prolific lets a submission time out.

    Without a time of the draft's own, Prolific sets the longest.
    """
    return math.ceil(2 + 2 * estimated + 2 * math.sqrt(estimated))


def study_there(row: Mapping[str, Any]) -> StudyThere:
    return StudyThere(
        id=row["id"], status=row["status"], places=int(row.get("total_available_places") or 0)
    )


def submission_there(row: Mapping[str, Any]) -> SubmissionThere:
    return SubmissionThere(
        id=row["id"],
        participant=row["participant_id"],
        status=row["status"],
        started_at=datetime.fromisoformat(row["started_at"]),
        completed_at=_moment(row.get("completed_at")),
        code=_storable(row.get("study_code") or "")[:LONGEST_CODE],
        return_requested_at=_moment(row.get("return_requested")),
    )


def _storable(text: str) -> str:
    """The text with other characters for NUL and for halves of surrogate pairs, which no database
    takes. JSON can have them."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def subscription_there(row: Mapping[str, Any]) -> Subscription:
    return Subscription(
        id=row["id"],
        event=row["event_type"],
        address=row["target_url"],
        is_enabled=bool(row.get("is_enabled", True)),
    )


def subscription_made(body: Mapping[str, Any], *, event: str, address: str) -> Subscription:
    """The new subscription. The guide shows the row alone, the schema a list with the row in it."""
    rows = [row for row in body.get("results", [body]) if row.get("id")]
    subscriptions = [subscription_there(row) for row in rows]
    mine = [
        subscription
        for subscription in subscriptions
        if (subscription.event, subscription.address) == (event, address)
    ]
    if not mine:
        raise PanelUnclear("Prolific's answer does not name the new subscription.")
    return mine[-1]


def problem_of(body: Any, *, status: int) -> str:
    """A refusal in words, without ids: they may be participants', and are stored nowhere else."""
    detail = body.get("error") if isinstance(body, dict) else None
    problem = detail if isinstance(detail, dict) else body if isinstance(body, dict) else {}
    words = [str(problem[key]) for key in ("title", "detail") if problem.get(key)]
    text = ": ".join(words) or f"HTTP status {status}"
    return _IDENTIFIER.sub("(an id)", _storable(text))
