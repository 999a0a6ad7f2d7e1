"""The section `[correspondence]` of a campaign file."""

from typing import Literal

from pydantic import Field

from annotate.campaign_file import CampaignConfig, Section


class Correspondences(Section):
    """Which boxes and captions are used, and how workers' links are combined."""

    parts: bool = Field(default=False, description="show boxes of parts, as faces and wheels are")
    images: int | None = Field(default=None, ge=1, description="the first so many of the captions'")
    captions_per_image: int | None = Field(default=None, ge=1, description="the first so many")
    aggregation: Literal["dawid-skene", "majority"] = "dawid-skene"


def rules_of(config: CampaignConfig) -> Correspondences:
    return config.section_of_kind("correspondence", Correspondences)
