"""The domain's tables, one module for each part of the story."""

from annotate.models.campaigns import Campaign, CampaignStatus, Task
from annotate.models.images import Box, ClassRelation, Image, ImageSource, ObjectClass, RelationKind
from annotate.models.releases import Release, ReleasedCaption, ReleasedImage, Role
from annotate.models.responses import (
    Caption,
    Claim,
    ClaimStatus,
    Response,
    ResponseStatus,
    Worker,
)
from annotate.models.selections import SelectedImage, Selection

__all__ = [
    "Box",
    "Campaign",
    "CampaignStatus",
    "Caption",
    "Claim",
    "ClaimStatus",
    "ClassRelation",
    "Image",
    "ImageSource",
    "ObjectClass",
    "RelationKind",
    "Release",
    "ReleasedCaption",
    "ReleasedImage",
    "Response",
    "ResponseStatus",
    "Role",
    "SelectedImage",
    "Selection",
    "Task",
    "Worker",
]
