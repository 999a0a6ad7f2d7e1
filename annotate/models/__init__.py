"""The database tables of this app, one module per topic."""

from annotate.models.campaigns import Campaign, CampaignDraft, CampaignStatus, Task, WorkerPage
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
    Correspondence,
    Device,
    ImportedFile,
    Response,
    ResponseStatus,
    Submission,
    Worker,
)
from annotate.models.selections import CaptionSet, GivenCaption, Procedure, SelectedImage, Selection
