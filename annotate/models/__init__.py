"""The database tables of this app, one module per topic."""

from annotate.models.campaigns import Campaign, CampaignStatus, Task
from annotate.models.captions import CaptionSet, GivenCaption
from annotate.models.drafts import CampaignDraft
from annotate.models.failures import Failure, FailureSource
from annotate.models.idempotency import IdempotencyKey
from annotate.models.images import (
    Box,
    ClassName,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
    RelationKind,
    SplitPools,
)
from annotate.models.jobs import Job, JobLine, JobStatus
from annotate.models.notices import (
    Delivery,
    DeliveryStatus,
    Notice,
    NoticeChoice,
    Webhook,
)
from annotate.models.releases import (
    HiddenExport,
    Release,
    ReleasedAnswer,
    ReleasedCaption,
    ReleasedFile,
    ReleasedImage,
    Role,
)
from annotate.models.responses import (
    Answer,
    Behaviour,
    Caption,
    Claim,
    Correspondence,
    Device,
    Response,
    ResponseStatus,
    Worker,
)
from annotate.models.second_factors import RecoveryCode, SecondFactor
from annotate.models.selections import Procedure, SelectedImage, Selection
from annotate.models.teams import Invitation, Membership, Right, Team, TeamChange, TeamRole
from annotate.models.tokens import ApiToken, Scope

__all__ = [
    "Answer",
    "ApiToken",
    "Behaviour",
    "Box",
    "Campaign",
    "CampaignDraft",
    "CampaignStatus",
    "Caption",
    "CaptionSet",
    "Claim",
    "ClassName",
    "ClassRelation",
    "Correspondence",
    "Delivery",
    "DeliveryStatus",
    "Device",
    "Failure",
    "FailureSource",
    "GivenCaption",
    "HiddenExport",
    "IdempotencyKey",
    "Image",
    "ImageSource",
    "Job",
    "JobLine",
    "JobStatus",
    "Invitation",
    "Membership",
    "Notice",
    "NoticeChoice",
    "ObjectClass",
    "Procedure",
    "RelationKind",
    "Release",
    "ReleasedAnswer",
    "ReleasedCaption",
    "ReleasedFile",
    "ReleasedImage",
    "Response",
    "ResponseStatus",
    "Right",
    "Role",
    "RecoveryCode",
    "Scope",
    "SecondFactor",
    "SelectedImage",
    "Selection",
    "SplitPools",
    "Task",
    "Team",
    "TeamChange",
    "TeamRole",
    "Webhook",
    "Worker",
]
