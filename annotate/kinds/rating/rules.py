"""The section `[rating]` of a campaign file."""

from typing import Literal, Self

from pydantic import Field, model_validator

from annotate.campaign_file import CampaignConfig, Section

# Maximum number of captions on one page; more would tire workers.
MOST_CAPTIONS = 12


class Source(Section):
    """The source of captions: a release or a caption set."""

    name: str = Field(pattern=r"^[\w.-]+( [\w.-]+)*$", max_length=40)
    release: str | None = Field(default=None, min_length=1)
    caption_set: str | None = Field(default=None, min_length=1)
    role: Literal["references", "baseline"] = "references"
    per_image: int = Field(default=1, ge=1, le=10, description="captions of each image, at most")

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.release is None) == (self.caption_set is None):
            raise ValueError("name exactly one of release and caption_set")
        return self


class Rating(Section):
    """Which sources are rated, and how many images."""

    sources: tuple[Source, ...] = ()
    images: int | None = Field(default=None, ge=1, description="drawn at random; all unless given")
    same_form: bool = Field(default=True, description="a capital first, a full stop last")

    @model_validator(mode="after")
    def _sources_fit_on_a_page(self) -> Self:
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        if sum(source.per_image for source in self.sources) > MOST_CAPTIONS:
            raise ValueError(f"the sources give more than {MOST_CAPTIONS} captions of an image")
        return self


def rules_of(config: CampaignConfig) -> Rating:
    return config.section_of_kind("rating", Rating)
