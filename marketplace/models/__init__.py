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
from .operators import Activity, SentForm
from .panels import (
    BatchState,
    BonusBatch,
    PanelPayment,
    PanelStudy,
    PanelSubmission,
    PaymentKind,
)
from .people import (
    Consent,
    ConsentText,
    MailInvitation,
    MailRefusal,
    Membership,
    Offer,
    PeopleGroup,
    WithdrawnBy,
)
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
from .studies import AttentionAnswer, AttentionCheck, Participation, Screening, Study

__all__ = [
    "DECIDED",
    "LIVE",
    "REVEALED",
    "Account",
    "Activity",
    "Assignment",
    "AttentionAnswer",
    "AttentionCheck",
    "AssignmentStatus",
    "Attempt",
    "BatchState",
    "BonusBatch",
    "BonusPayment",
    "CallAllowance",
    "Consent",
    "ConsentText",
    "Event",
    "EventType",
    "ExternalIdentity",
    "Hit",
    "HitLayout",
    "HitStatus",
    "HitType",
    "Invitation",
    "MailInvitation",
    "MailRefusal",
    "Membership",
    "Message",
    "NotificationSetting",
    "Offer",
    "PanelPayment",
    "PanelStudy",
    "PanelSubmission",
    "Participation",
    "PaymentKind",
    "PeopleGroup",
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
    "Screening",
    "SentForm",
    "Study",
    "Timekeeper",
    "Transfer",
    "TransferKind",
    "UsedLink",
    "WithdrawnBy",
    "Worker",
    "WorkerBlock",
]
