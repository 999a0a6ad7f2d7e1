"""A model for each reply of the marketplace, with the members that we use.

No other module in `hits` reads raw replies. Values that pass these models fit the database: ids
have the length and the characters of ids, times are in this century, and texts can be stored.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

EARLIEST, LATEST = datetime(2005, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
# Much more than two clocks differ, unless the marketplace's was changed for a test.
A_YEAR = timedelta(days=365)


def storable(text: str) -> str:
    """Replace characters that a database cannot store: NUL and unpaired surrogates."""
    return (
        text.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def _storable(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _in_this_century(at: datetime) -> datetime:
    if not EARLIEST <= at < LATEST:
        raise ValueError("is not a time between 2005 and 2100")
    return at.astimezone(UTC)


def _not_to_come(at: datetime) -> datetime:
    if at > datetime.now(UTC) + A_YEAR:
        raise ValueError("is more than a year ahead")
    return at


Id = Annotated[str, Field(strict=True, pattern=r"^[A-Z0-9]{1,64}$")]
WorkerId = Annotated[str, Field(strict=True, pattern=r"^A[A-Z0-9]{1,63}$")]
Text = Annotated[str, Field(strict=True), BeforeValidator(_storable)]
Token = Annotated[str, Field(strict=True, max_length=255), BeforeValidator(_storable)]
Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000_000)]
Time = Annotated[AwareDatetime, Field(strict=True), AfterValidator(_in_this_century)]
PastTime = Annotated[Time, AfterValidator(_not_to_come)]
Dollars = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=2)]


class Reply(BaseModel):
    """A reply or a part of a reply. Unknown members are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class ListedStatus(StrEnum):
    """The statuses of a HIT at the marketplace."""

    ASSIGNABLE = "Assignable"
    UNASSIGNABLE = "Unassignable"
    REVIEWABLE = "Reviewable"
    REVIEWING = "Reviewing"
    DISPOSED = "Disposed"


class ListedHit(Reply):
    """A HIT in the replies of ListHITs and GetHIT."""

    hit_id: Id = Field(alias="HITId")
    hit_type_id: Id | None = Field(default=None, alias="HITTypeId")
    annotation: Text = Field(default="", alias="RequesterAnnotation")
    status: ListedStatus = Field(alias="HITStatus")
    created_at: PastTime | None = Field(default=None, alias="CreationTime")
    expires_at: Time = Field(alias="Expiration")
    reward: Dollars | None = Field(default=None, alias="Reward")
    max_assignments: Count = Field(alias="MaxAssignments")
    available: Count = Field(alias="NumberOfAssignmentsAvailable")
    pending: Count = Field(alias="NumberOfAssignmentsPending")
    completed: Count = Field(alias="NumberOfAssignmentsCompleted")

    @model_validator(mode="after")
    def _counts_fit(self) -> "ListedHit":
        if self.available + self.pending + self.completed > self.max_assignments:
            raise ValueError("its counts are more than its MaxAssignments")
        return self

    @property
    def submitted(self) -> int:
        """Number of submitted assignments, including decided ones."""
        return self.max_assignments - self.available - self.pending

    @property
    def is_closed(self) -> bool:
        """Whether the HIT is permanently closed to new workers.

        This uses the status and not the expiry time, as the marketplace's clock may differ from
        ours. A HIT is also Unassignable while all its slots are taken, but it opens again if an
        assignment is returned.
        """
        if self.status == ListedStatus.UNASSIGNABLE:
            return self.available > 0
        return self.status != ListedStatus.ASSIGNABLE

    @property
    def is_over(self) -> bool:
        """Whether the HIT is closed and no worker has an accepted assignment."""
        return self.status not in (ListedStatus.ASSIGNABLE, ListedStatus.UNASSIGNABLE)


class ListedAssignmentStatus(StrEnum):
    """The statuses of an assignment that the marketplace reports."""

    SUBMITTED = "Submitted"
    APPROVED = "Approved"
    REJECTED = "Rejected"


class ListedAssignment(Reply):
    """An assignment in the replies of ListAssignmentsForHIT and GetAssignment."""

    assignment_id: Id = Field(alias="AssignmentId")
    hit_id: Id = Field(alias="HITId")
    worker_id: WorkerId = Field(alias="WorkerId")
    status: ListedAssignmentStatus = Field(alias="AssignmentStatus")
    accepted_at: PastTime | None = Field(default=None, alias="AcceptTime")
    submitted_at: PastTime = Field(alias="SubmitTime")
    approved_at: PastTime | None = Field(default=None, alias="ApprovalTime")
    rejected_at: PastTime | None = Field(default=None, alias="RejectionTime")
    answer: Text = Field(default="", alias="Answer")
    feedback: Text = Field(default="", alias="RequesterFeedback")

    @model_validator(mode="after")
    def _decided_at_some_time(self) -> "ListedAssignment":
        if self.status != ListedAssignmentStatus.SUBMITTED and self.decided_at is None:
            raise ValueError("it is decided, but the time of the decision is missing")
        return self

    @property
    def decided_at(self) -> datetime | None:
        if self.status == ListedAssignmentStatus.SUBMITTED:
            return None
        if self.status == ListedAssignmentStatus.APPROVED:
            return self.approved_at or self.rejected_at
        return self.rejected_at or self.approved_at


class CreatedHit(Reply):
    """The HIT in the reply to the call that creates it."""

    hit_id: Id = Field(alias="HITId")
    expires_at: Time | None = Field(default=None, alias="Expiration")


class QualificationType(Reply):
    type_id: Id = Field(alias="QualificationTypeId")


class Balance(Reply):
    available: Dollars = Field(alias="AvailableBalance")


class MadeHitType(Reply):
    hit_type_id: Id = Field(alias="HITTypeId")


class SentBonus(Reply):
    amount: Dollars = Field(alias="BonusAmount")
    reason: Text = Field(default="", alias="Reason")


class NotReached(Reply):
    worker_id: WorkerId = Field(alias="WorkerId")


class Notified(Reply):
    not_reached: list[NotReached] = Field(alias="NotifyWorkersFailureStatuses")


def in_words(error: ValidationError) -> str:
    """Describe the errors in a reply without its values, which may contain worker ids."""
    problems = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in fault["loc"])
        problems.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return "; ".join(problems[:5])
