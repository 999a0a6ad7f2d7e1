"""The campaign file: what a researcher may write in it, the presets, and its errors.

Plain Python with pydantic; knows nothing of the database. Sections are small frozen models; a key
that none of them has, or a value that none of them allows, is an error that names the key.
"""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from annotate.reading.files import open_text, printable, short
from annotate.reading.toml_files import parse_toml

CENT = Decimal("0.01")
Money = Annotated[
    Decimal,
    Field(max_digits=10, decimal_places=2),
    AfterValidator(lambda amount: amount.quantize(CENT)),
]
Share = Annotated[float, Field(ge=0, le=1)]


class CampaignFileError(Exception):
    """The campaign file cannot be used; the message names the keys that are at fault."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CaptionRules(Section):
    """What a caption must be to be taken (rules of Chen et al. 2015, section 3, as data)."""

    least_words: int = Field(default=8, ge=1)
    most_words: int = Field(default=60, ge=1)
    forbid_there_is: bool = True
    forbid_line_breaks: bool = True
    forbid_urls: bool = True
    forbid_keyword_lists: bool = True

    @model_validator(mode="after")
    def _bounds_in_order(self) -> "CaptionRules":
        if self.least_words > self.most_words:
            raise ValueError("least_words is greater than most_words")
        return self


class Priming(Section):
    """Whether workers see the image's object classes; a share below 1 compares both."""

    share: Share = 1.0


class BadExample(Section):
    text: str = Field(min_length=1)
    why: str = Field(min_length=1)


class Instructions(Section):
    """Examples on the task page, beside the standing instructions of the kind of task."""

    good: tuple[str, ...] = ()
    bad: tuple[BadExample, ...] = ()


class Hit(Section):
    """What the marketplace shows and pays."""

    title: str = Field(
        default="Describe a photograph in one sentence", min_length=1, max_length=128
    )
    description: str = Field(
        default="Look at a photograph and write one sentence that describes its important parts.",
        min_length=1,
        max_length=2000,
    )
    keywords: str = Field(default="image, photograph, caption, describe, writing", max_length=1000)
    reward: Money = Field(default=Decimal("0.10"), ge=Decimal("0.01"))
    images: int = Field(default=1, ge=1, le=20, description="images shown in one assignment")
    # From ten assignments on, MTurk charges twice the fee (docs/decisions).
    assignments: int = Field(default=9, ge=1, le=9, description="assignments of one HIT")
    minutes: int = Field(default=20, ge=1, le=525_600, description="time allotted to a worker")
    lifetime_days: int = Field(default=7, ge=1, le=365)
    auto_approval_days: int = Field(default=3, ge=0, le=30)


class Workers(Section):
    """Who may take part (Agrawal et al. 2019, appendix: US, 5,000 approved, above 95 %)."""

    countries: tuple[Annotated[str, Field(pattern=r"^[A-Z]{2}$")], ...] = ("US",)
    approved_hits: int = Field(default=5000, ge=0, description="at least so many approved HITs")
    approval_rate: int = Field(default=95, ge=0, le=99, description="above so many per cent")
    masters: bool = False


class Review(Section):
    """What is spot-checked, by how many, what follows for a worker, and when work is approved."""

    share: Share = 0.02
    first: int = Field(default=1, ge=0, description="first responses of each worker, all checked")
    trial: int = Field(
        default=0, ge=0, description="responses until the first ones have verdicts; 0: any number"
    )
    reviewers: int = Field(default=1, ge=1, le=2, description="judgements of one response")
    gold_every: int = Field(default=0, ge=0, description="known judgements among checks; 0: none")
    policy: Literal["decide", "propose"] = "decide"
    limit: float = Field(default=0.10, gt=0, lt=1, description="share of bad responses to bear")
    certainty: float = Field(default=0.95, ge=0.5, le=1)
    pause_certainty: float = Field(default=0.80, ge=0.5, le=1)
    discard: Literal["all", "since_first_bad"] = "all"
    approve_after_hours: float = Field(default=24, ge=0, le=720)

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


class Correspondences(Section):
    """What workers link words to, and how their links become one answer."""

    parts: bool = Field(default=False, description="show boxes of parts, as faces and wheels are")
    images: int | None = Field(default=None, ge=1, description="the first so many of the captions'")
    captions_per_image: int | None = Field(default=None, ge=1, description="the first so many")
    aggregation: Literal["dawid-skene", "majority"] = "dawid-skene"


class Flags(Section):
    """From what value on a sign of careless work is a flag (docs/flags.md)."""

    function_words: Share = Field(default=0.10, description="a list has a smaller share")
    misspelled: int = Field(default=1, ge=1, description="unknown words")
    gibberish: Share = Field(default=0.5, description="share of words unknown or repeated")
    foreign: Share = Field(default=0.25, description="share of words of another language")
    odd_order: int = Field(default=1, ge=1, description="pairs of words English does not have")
    broken_order: int = Field(default=2, ge=1)
    ornate: int = Field(default=1, ge=1, description="words that captions hardly ever have")
    copy_similarity: Share = Field(default=0.9, description="similarity of two texts")
    repeat_similarity: Share = Field(default=0.65, description="the same by whole words")
    repeats: int = Field(default=3, ge=1, description="of the worker's latest captions")
    twin_copies: int = Field(default=3, ge=1, description="copies of one other account")
    twin_hours: float = Field(
        default=2, gt=0, le=8760, description="hours between copy and original"
    )
    unlike: Share = Field(default=0.25, description="of the others' likeness to each other")
    very_unlike: Share = 0.12
    shared_things: int = Field(default=4, ge=1, description="that the others name")
    brief: Share = Field(default=0.5, description="of the others' median length")
    wordy: float = Field(default=2.0, ge=1)
    pasted: Share = Field(default=0.5, description="share of the text that was pasted")
    characters_a_second: float = Field(default=15, gt=0)
    seconds: float = Field(default=8, ge=0, description="on the page, at least")
    times_left: int = Field(default=5, ge=1, description="the page lost the focus")


class CampaignConfig(Section):
    """A whole campaign file."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)
    preset: Literal["nocaps", "coco-c5", "coco-c40", "imageclef"] | None = None
    kind: str = "caption"
    # What the campaign works on, one of the three: images, or captions of a release or of a file.
    selection: str | None = Field(default=None, min_length=1)
    release: str | None = Field(default=None, min_length=1)
    caption_set: str | None = Field(default=None, min_length=1)
    references: int = Field(default=10, ge=1, le=1000)
    baselines: int = Field(default=1, ge=0, le=1)
    responses: int | None = Field(
        default=None, ge=1, le=1000, description="per task, for kinds without references"
    )
    # What a database column of whole numbers holds.
    seed: int = Field(default=0, ge=-(2**63), lt=2**63)
    budget: Money = Field(ge=0)
    captions: CaptionRules = CaptionRules()
    priming: Priming = Priming()
    correspondence: Correspondences = Correspondences()
    instructions: Instructions = Instructions()
    hit: Hit = Hit()
    workers: Workers = Workers()
    review: Review = Review()
    flags: Flags = Flags()

    @model_validator(mode="after")
    def _works_on_one_thing(self) -> "CampaignConfig":
        given = [self.selection, self.release, self.caption_set]
        if sum(name is not None for name in given) != 1:
            raise ValueError("name exactly one of selection, release and caption_set")
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
    def wanted(self) -> int:
        """Responses per task."""
        return self.responses or self.references + self.baselines


# Values that a kind of task gives where neither preset nor file says anything.
KIND_DEFAULTS: dict[str, dict[str, Any]] = {
    "correspondence": {
        "responses": 3,
        "hit": {
            "title": "Link the words of a sentence to boxes in a photograph",
            "description": "Look at a photograph with labelled boxes and read a sentence about it. "
            "Link each word that names a thing to the box around that thing.",
            "keywords": "image, photograph, boxes, words, linking, annotation",
        },
    },
}
# Values that a preset gives where the file says nothing. nocaps: Agrawal et al. 2019, section 3.1;
# COCO: Chen et al. 2015, section 3 (no priming, 5 or 40 references and one more for comparison);
# ImageCLEF 2015: the words of a description linked to boxes (Wang and Gaizauskas 2015, section 3).
PRESETS: dict[str, dict[str, Any]] = {
    "nocaps": {"references": 10, "baselines": 1, "priming": {"share": 1.0}},
    "coco-c5": {"references": 5, "baselines": 1, "priming": {"share": 0.0}},
    "coco-c40": {"references": 40, "baselines": 1, "priming": {"share": 0.0}},
    "imageclef": {"kind": "correspondence", "responses": 3},
}


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`base` with `over`'s values on top, section by section."""
    result = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            value = merged(result[key], value)
        result[key] = value
    return result


def parse_config(values: dict[str, Any]) -> CampaignConfig:
    """The checked configuration; raises CampaignFileError with one line for each fault."""
    try:
        return CampaignConfig.model_validate(merged(_defaults(values), values))
    except ValidationError as error:
        raise CampaignFileError("\n".join(_explain(fault) for fault in error.errors())) from error


def _defaults(values: dict[str, Any]) -> dict[str, Any]:
    """What the file's preset and kind of task give where it says nothing."""
    preset = values.get("preset")
    base = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    kind = values.get("kind", base.get("kind"))
    return merged(KIND_DEFAULTS.get(kind, {}) if isinstance(kind, str) else {}, base)


def read_config(path: Path) -> CampaignConfig:
    """The campaign file at `path`; raises MalformedFile, and CampaignFileError for its values."""
    with open_text(path) as text:
        return parse_config(parse_toml(str(path), text.read()))


def _explain(fault: Any) -> str:
    """One fault as `section.key: what is wrong`."""
    key = printable(".".join(str(part)[:100] for part in fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return f"{key}: there is no such key"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if key and not isinstance(fault["input"], dict):
        message += f", not {short(fault['input'])}"
    return f"{key}: {message}" if key else message
