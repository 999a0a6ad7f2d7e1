"""The marketplace's database tables, one module per topic."""

from marketplace.models.accounts import (
    Activity,
    Attempt,
    CallAllowance,
    ExternalIdentity,
    Invitation,
    Message,
    Rehearsal,
    Requester,
    RequestToken,
    SentForm,
    SiteAccount,
    UsedLink,
    Worker,
    WorkerBlock,
)
from marketplace.models.hits import (
    DECIDED,
    LIVE,
    REVEALED,
    Assignment,
    AssignmentStatus,
    Event,
    EventType,
    Hit,
    HitLayout,
    HitStatus,
    HitType,
    NotificationSetting,
    ReviewAction,
    ReviewLevel,
    ReviewResult,
)
from marketplace.models.ledger import Account, BonusPayment, Transfer, TransferKind
from marketplace.models.people import (
    Consent,
    ConsentText,
    MailInvitation,
    MailRefusal,
    Membership,
    Offer,
    PeopleGroup,
    WithdrawnBy,
)
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
)
from marketplace.models.studies import (
    AttentionAnswer,
    AttentionCheck,
    Participation,
    Screening,
    Study,
)
