"""The campaign file: the keys that a researcher may write in it, and their defaults.

Uses pydantic, and not Django. `annotate.kinds.campaign_files` reads a file.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from corpora.language.languages import LANGUAGE_TAG, checked_tag
from corpora.language.text import SENTENCE_WORDS, CaptionRules, gettext_noop
from shared.countries import CODES

CENT = Decimal("0.01")
Money = Annotated[
    Decimal,
    Field(max_digits=10, decimal_places=2),
    AfterValidator(lambda amount: amount.quantize(CENT)),
]
Share = Annotated[float, Field(ge=0, le=1)]


LanguageTag = Annotated[
    str,
    AfterValidator(checked_tag),
    Field(json_schema_extra={"pattern": f"^{LANGUAGE_TAG.pattern}$"}),
]


def _known_country(code: str) -> str:
    if code not in CODES:
        raise ValueError("must be a country code of ISO 3166-1 in capitals, such as US")
    return code


Country = Annotated[
    str, AfterValidator(_known_country), Field(json_schema_extra={"pattern": "^[A-Z]{2}$"})
]


class Section(BaseModel):
    # Databases store no JSON with a number that is infinite.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Priming(Section):
    """Whether workers see the image's object classes. A share below 1 allows a comparison.

    It is a share of the images, or of the responses to each image. With "none", nobody sees them.
    """

    share: Share = Field(default=1.0, description="share with keywords")
    by: Literal["image", "response", "none"] = Field(
        default="image", description="what the share is of; none: nobody sees keywords"
    )

    @model_validator(mode="before")
    @classmethod
    def _none_is_a_share_of_zero(cls, values: Any) -> Any:
        is_off = isinstance(values, Mapping) and values.get("by") == "none"
        return {**values, "share": 0.0} if is_off else values


class BadExample(Section):
    text: str = Field(min_length=1, description="a bad caption")
    why: str = Field(min_length=1, description="what is wrong with it")


class Instructions(Section):
    """The campaign's own texts on the task page, in place of the built-in ones."""

    intro: str = Field(default="", max_length=2_000, description="shown above the rules")
    rules: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = Field(
        default=(), max_length=30, description="one line each, without the limits of words"
    )
    good: tuple[str, ...] = Field(default=(), description="good captions")
    bad: tuple[BadExample, ...] = Field(default=(), description="captions that are not good")


class GradedCaption(Section):
    image: str = Field(min_length=1, description="id of an image, or name of an own file")
    text: str = Field(min_length=1, max_length=10_000, description="a caption of the image")
    good: bool = Field(description="whether it is a good caption")
    why: str = Field(min_length=1, max_length=1_000, description="why, as workers read it")


class Practice(Section):
    """What new workers do before their first task; without captions there is no practice."""

    way: Literal["rate", "write"] = Field(
        default="rate", description="rate each caption, or write one for each image"
    )
    captions: tuple[GradedCaption, ...] = Field(
        default=(), max_length=40, description="graded captions, in their order"
    )
    pass_mark: Share = Field(
        default=0, description="share of right answers without which nobody gets a task"
    )
    paid: bool = Field(
        default=False, description="an assignment of its own, paid whatever the result"
    )

    @property
    def items(self) -> list[list[GradedCaption]]:
        """The captions of each question: one to rate, or all of the image that is described."""
        if self.way == "rate":
            return [[caption] for caption in self.captions]
        by_image: dict[str, list[GradedCaption]] = {}
        for caption in self.captions:
            by_image.setdefault(caption.image, []).append(caption)
        return list(by_image.values())

    @property
    def least_right(self) -> int:
        """The number of right answers with which a worker passes."""
        return math.ceil(round(self.pass_mark * len(self.items), 6))


class Hit(Section):
    """Properties of the campaign's HITs at the marketplace."""

    title: str = Field(
        default=gettext_noop("Describe a photograph in one sentence"),
        min_length=1,
        max_length=128,
        description="title of the HIT",
    )
    description: str = Field(
        default=gettext_noop(
            "Look at a photograph and write one sentence that describes its important parts."
        ),
        min_length=1,
        max_length=2000,
        description="description of the HIT",
    )
    keywords: str = Field(
        default="image, photograph, caption, describe, writing",
        max_length=1000,
        description="search words, with commas between",
    )
    reward: Money = Field(
        default=Decimal("0.10"), ge=0, description="US dollars for one assignment"
    )
    images: int = Field(default=1, ge=1, le=20, description="images shown in one assignment")
    # From ten assignments per HIT on, MTurk doubles the fee (docs/decisions).
    assignments: int = Field(default=9, ge=1, le=9, description="assignments of one HIT")
    minutes: int = Field(default=20, ge=1, le=525_600, description="time allotted to a worker")
    lifetime_days: int = Field(default=7, ge=1, le=365, description="days until a HIT expires")
    auto_approval_days: int = Field(
        default=30, ge=0, le=30, description="days until the marketplace approves by itself"
    )


# Time for one sentence if none was measured yet. With it, a reward of $0.10 pays $9 an hour.
SECONDS_PER_SENTENCE = 40
# Each further word: DCI's workers needed about 40 minutes for 750 words (Urbanek et al. 2024, the
# pilot's title in the published code).
SECONDS_PER_WORD = 3.2
# Dollars and the seconds that they pay for, at $9 an hour.
STEP, SECONDS_PER_STEP = Decimal("0.05"), 20
# An assignment has this many times as long as it takes, as DCI's had.
TIMES = 3


def seconds_for(captions: CaptionRules) -> float:
    """The seconds that one caption of the usual length takes, if none was measured yet."""
    further = captions.usual_words - SENTENCE_WORDS
    return SECONDS_PER_SENTENCE + SECONDS_PER_WORD * max(0, further)


def fair_hit(captions: CaptionRules) -> dict[str, Any]:
    """The reward in dollars and the minutes of an assignment with captions of this length."""
    seconds = seconds_for(captions)
    return {
        "reward": str(STEP * round(seconds / SECONDS_PER_STEP)),
        "minutes": max(Hit().minutes, round(TIMES * seconds / 60)),
    }


NO_REQUIREMENTS: Mapping[str, Any] = {
    "countries": (),
    "approved_hits": 0,
    "approval_rate": 0,
    "masters": False,
}
# Defaults of the other keys for each value of `who`. Agrawal et al. 2019, section 3.1: US, 5,000
# approved, above 95%.
REQUIREMENTS: Mapping[str, Mapping[str, Any]] = {
    "own": NO_REQUIREMENTS,
    "panel": NO_REQUIREMENTS,
    "nocaps": {**NO_REQUIREMENTS, "countries": ("US",), "approved_hits": 5000, "approval_rate": 95},
}


class Workers(Section):
    """Who may work, and the qualification requirements."""

    who: Literal["own", "panel", "nocaps"] = Field(
        default="nocaps", description="sets the defaults of the other keys"
    )
    countries: tuple[Country, ...] = Field(
        default=("US",), description="two-letter codes (ISO 3166-1); empty: all countries"
    )
    approved_hits: int = Field(default=5000, ge=0, description="minimum number of approved HITs")
    approval_rate: int = Field(
        default=95, ge=0, le=99, description="minimum approval rate in per cent"
    )
    masters: bool = Field(default=False, description="require the Masters qualification")

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_who(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        who = values.get("who", "nocaps")
        return {**REQUIREMENTS.get(who if isinstance(who, str) else "", {}), **values}

    @model_validator(mode="after")
    def _own_people_need_nothing(self) -> "Workers":
        if self.who == "own" and self.has_requirements:
            raise ValueError(
                'who = "own" means no requirements: remove countries, approved_hits, '
                'approval_rate and masters, or write who = "panel"'
            )
        return self

    @property
    def has_requirements(self) -> bool:
        """Whether the marketplace keeps some workers out."""
        return bool(self.countries or self.approved_hits or self.approval_rate or self.masters)


class Review(Section):
    """Spot checks, the policy about workers, and approval."""

    share: Share = Field(default=0.02, description="share of responses in the random sample")
    first: int = Field(default=1, ge=0, description="first responses of each worker, all checked")
    # Databases count the responses up to it, so it must be a number of theirs.
    trial: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="responses until the first ones have verdicts; 0: any number",
    )
    reviewers: int = Field(default=1, ge=1, le=2, description="judgements of one response")
    gold_every: int = Field(
        default=0, ge=0, description="one of this many checks is a gold item; 0: none"
    )
    policy: Literal["decide", "propose"] = Field(
        default="decide", description="who excludes careless workers: the campaign, or a person"
    )
    limit: float = Field(default=0.10, gt=0, lt=1, description="tolerated share of bad responses")
    certainty: float = Field(
        default=0.95, ge=0.5, le=1, description="risk at which a worker is excluded, or proposed"
    )
    pause_certainty: float = Field(
        default=0.80, ge=0.5, le=1, description="risk at which a worker is paused; 1: never"
    )
    discard: Literal["all", "since_first_bad"] = Field(
        default="all", description="which responses an exclusion discards"
    )
    approve_after_hours: float = Field(
        default=24, ge=0, le=720, description="hours from submission to approval"
    )
    tells_workers: bool = Field(
        default=False, description="workers read why their answers were discarded, and can appeal"
    )

    @model_validator(mode="after")
    def _pauses_before_excluding(self) -> "Review":
        if self.pause_certainty > self.certainty and self.pause_certainty < 1:
            raise ValueError("pause_certainty is greater than certainty; 1 turns pauses off")
        return self

    @model_validator(mode="after")
    def _trial_holds_the_first(self) -> "Review":
        if self.trial and not 1 <= self.first <= self.trial:
            raise ValueError("first must be at least 1 and at most trial; trial = 0 turns it off")
        return self


class Writing(Section):
    """How the task page deters texts that the worker has not written."""

    confirm: str = Field(
        default="", max_length=500, description="sentence that new workers confirm; empty: none"
    )
    refuse_paste: bool = Field(default=False, description="the field takes no pasted text")
    question: bool = Field(
        default=False, description="new workers count the dots in a picture before they submit"
    )


class Flags(Section):
    """Thresholds of flags that depend on the study (docs/flags.md)."""

    misspelled: int = Field(default=1, ge=1, description="unknown words")
    copy_similarity: Share = Field(default=0.9, description="similarity of two texts")
    repeats: int = Field(default=3, ge=1, description="of the worker's latest captions")
    unlike: Share = Field(default=0.25, description="of the others' likeness to each other")
    pasted: Share = Field(default=0.5, description="share of the text that was pasted")
    seconds: float = Field(default=8, ge=0, description="on the page, at least")


class CampaignConfig(Section):
    """A whole campaign file.

    The section of a task type is an extra key, which that task type reads.
    `annotate.kinds.campaign_files` refuses all other extra keys.
    """

    model_config = ConfigDict(extra="allow")
    # Keys that the tasks are made from. Of the section `captions`, some of its own keys are.
    task_keys: ClassVar[set[str]] = {
        "kind",
        "language",
        "selection",
        "release",
        "caption_set",
        "references",
        "baselines",
        "responses",
        "seed",
        "priming",
    }

    name: str = Field(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        max_length=100,
        description="name of the campaign: lower-case letters, digits and hyphens",
    )
    preset: str | None = None
    kind: str
    language: LanguageTag = Field(default="en", description="of the captions and the task page")
    # Exactly one of these: a selection of images, or captions of a release or a caption set.
    selection: str | None = Field(
        default=None, min_length=1, description="name of the selection of images"
    )
    release: str | None = Field(
        default=None, min_length=1, description="name of the release whose captions are used"
    )
    caption_set: str | None = Field(
        default=None, min_length=1, description="name of the set of captions that are used"
    )
    references: int = Field(
        default=10, ge=1, le=1000, description="reference captions of each image"
    )
    baselines: int = Field(
        default=1, ge=0, le=1, description="captions of each image for the human baseline"
    )
    responses: int | None = Field(
        default=None, ge=1, le=1000, description="per task, for kinds without references"
    )
    # The range of the database's 64-bit integer column.
    seed: int = Field(
        default=0, ge=-(2**63), lt=2**63, description="makes random choices repeatable"
    )
    budget: Money = Field(
        ge=0, description="the most that the campaign may spend, in US dollars with fees"
    )
    captions: CaptionRules = CaptionRules()
    priming: Priming = Priming()
    instructions: Instructions = Instructions()
    practice: Practice = Practice()
    hit: Hit = Hit()
    workers: Workers = Workers()
    review: Review = Review()
    writing: Writing = Writing()
    flags: Flags = Flags()

    @model_validator(mode="after")
    def _works_on_one_thing(self) -> "CampaignConfig":
        given = [self.selection, self.release, self.caption_set]
        if sum(name is not None for name in given) != 1:
            raise ValueError("name exactly one of selection, release and caption_set")
        return self

    @model_validator(mode="after")
    def _strangers_are_paid(self) -> "CampaignConfig":
        if not self.hit.reward and self.workers.who == "nocaps":
            raise ValueError(
                "hit.reward is 0, which only suits your own people and panels: enter at least "
                '0.01, or write workers.who = "own" or "panel"'
            )
        return self

    @model_validator(mode="after")
    def _auto_approval_leaves_time_to_review(self) -> "CampaignConfig":
        if self.hit.auto_approval_days * 24 < self.review.approve_after_hours:
            raise ValueError(
                "review.approve_after_hours is longer than hit.auto_approval_days, after which "
                "the marketplace approves automatically"
            )
        return self

    @property
    def of_tasks(self) -> dict[str, Any]:
        """The values that the tasks are made from, with the section of the task type."""
        whole = self.task_keys.union(self.model_extra or ())
        keys: Any = {**dict.fromkeys(whole, True), "captions": CaptionRules.task_keys}
        return self.model_dump(mode="json", include=keys)

    @property
    def wanted(self) -> int:
        """Responses per task."""
        return self.responses or self.references + self.baselines


class KindSection(Section):
    """The section of a task type, under the task type's name."""

    key: ClassVar[str]

    @classmethod
    def of(cls, config: CampaignConfig) -> Self:
        return cls.model_validate((config.model_extra or {}).get(cls.key, {}))
