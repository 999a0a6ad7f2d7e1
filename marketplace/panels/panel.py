"""What the site asks of a panel. A panel is a class with these methods. Does not use models.

Amounts are Decimals in the panel's currency, with two places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from marketplace.errors import DomainError

# The longest text of a panel's that is stored or shown.
LONGEST_PROBLEM = 300


class PanelRefused(DomainError):
    """The panel refused the request, and changed nothing."""


class PanelUnclear(DomainError):
    """No answer came, or one that does not tell whether the request had its effect."""


class StudyStatus(StrEnum):
    UNPUBLISHED = "UNPUBLISHED"
    SCHEDULED = "SCHEDULED"
    PUBLISHING = "PUBLISHING"
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    AWAITING_REVIEW = "AWAITING REVIEW"
    COMPLETED = "COMPLETED"


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
class ScreenOut:
    """What the panel pays by itself to participants who are screened out."""

    reward: Decimal
    # The panel pauses the study when this many were screened out.
    places: int


@dataclass(frozen=True)
class Draft:
    """A study as the panel shall show it; `reference` finds it again if the answer is lost."""

    reference: str
    name: str
    description: str
    url: str
    codes: Mapping[CodeKind, str]
    minutes: int
    reward: Decimal
    places: int
    devices: Sequence[str] = ()
    filters: Sequence[Mapping[str, Any]] = ()
    is_signed: bool = False
    screen_out: ScreenOut | None = None


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
class Balance:
    currency: str
    available: Decimal


@dataclass(frozen=True)
class Spent:
    """What a study has cost at the panel until now."""

    rewards: Decimal = Decimal("0.00")
    reward_fees: Decimal = Decimal("0.00")
    reward_tax: Decimal = Decimal("0.00")
    bonuses: Decimal = Decimal("0.00")
    bonus_fees: Decimal = Decimal("0.00")
    bonus_tax: Decimal = Decimal("0.00")

    @property
    def total(self) -> Decimal:
        return sum(vars(self).values(), Decimal("0.00"))


@dataclass(frozen=True)
class BonusesSetUp:
    """Bonuses that the panel pays when it is asked to, with its charges for them."""

    id: str
    amount: Decimal
    fees: Decimal = Decimal("0.00")
    tax: Decimal = Decimal("0.00")


@dataclass(frozen=True)
class Arrival:
    """Who a signed address says has arrived."""

    participant: str
    study: str
    session: str = field(repr=False, default="")


@dataclass(frozen=True)
class Subscription:
    """The panel's promise to send a hook to this address when something of this kind happens."""

    id: str
    event: str
    address: str
    is_enabled: bool


class Panel(Protocol):
    """A panel's API. Each method raises PanelRefused or PanelUnclear."""

    def find_study(self, reference: str) -> StudyThere | None: ...
    def create_draft(self, draft: Draft) -> StudyThere: ...
    def study(self, study_id: str) -> StudyThere: ...
    def transition(self, study_id: str, action: StudyAction) -> StudyThere: ...
    def set_places(self, study_id: str, places: int) -> StudyThere: ...
    def balance(self) -> Balance: ...
    def cost(self, *, reward: Decimal, places: int) -> Decimal: ...
    def spent(self, study_id: str) -> Spent: ...
    def submissions(self, study_id: str) -> list[SubmissionThere]: ...
    def bonuses_of(self, submission_id: str) -> list[Decimal]: ...
    def approve(self, submission_ids: Sequence[str]) -> None: ...
    def ask_to_return(self, submission_id: str, reason: str) -> None: ...
    def reject(self, submission_id: str, *, category: str, reason: str) -> None: ...
    def set_up_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> BonusesSetUp: ...
    def pay_bonuses(self, bonuses_id: str) -> None: ...
    def hook_secret(self) -> str: ...
    def make_hook_secret(self) -> str: ...
    def subscriptions(self) -> list[Subscription]: ...
    def subscribe(self, event: str, address: str) -> Subscription: ...
    def unsubscribe(self, subscription_id: str) -> None: ...
