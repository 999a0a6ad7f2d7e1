"""The marketplace's database tables, one module per topic."""

from .accounts import Message, Requester, RequestToken, Worker, WorkerBlock
from .hits import (
    DECIDED,
    LIVE,
    REVEALED,
    Assignment,
    AssignmentStatus,
    Hit,
    HitLayout,
    HitStatus,
    HitType,
)
from .ledger import Account, BonusPayment, Transfer, TransferKind
from .notifications import Event, EventType, NotificationSetting
from .operators import Activity
from .qualifications import (
    Qualification,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
)
from .review_policies import ReviewAction, ReviewLevel, ReviewResult
from .shared_state import CallAllowance, Rehearsal, Timekeeper
from .sign_in import Attempt, ExternalIdentity, Invitation, UsedLink
from .studies import Participation, Study

__all__ = [
    "DECIDED",
    "LIVE",
    "REVEALED",
    "Account",
    "Activity",
    "Assignment",
    "AssignmentStatus",
    "Attempt",
    "BonusPayment",
    "CallAllowance",
    "Event",
    "EventType",
    "ExternalIdentity",
    "Hit",
    "HitLayout",
    "HitStatus",
    "HitType",
    "Invitation",
    "Message",
    "NotificationSetting",
    "Participation",
    "Qualification",
    "QualificationRequest",
    "QualificationRequestStatus",
    "QualificationStatus",
    "QualificationType",
    "Rehearsal",
    "RequestToken",
    "Requester",
    "ReviewAction",
    "ReviewLevel",
    "ReviewResult",
    "Study",
    "Timekeeper",
    "Transfer",
    "TransferKind",
    "UsedLink",
    "Worker",
    "WorkerBlock",
]
