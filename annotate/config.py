"""The campaign file: what a researcher may write in it, the presets, and its errors.

Plain Python with pydantic; knows nothing of the database. Sections are small frozen models; a key
that none of them has, or a value that none of them allows, is an error that names the key.
"""

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

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
    """How much is spot-checked, and how long work waits before it is approved."""

    share: Share = 0.05
    first: int = Field(default=2, ge=0, description="first responses of each worker, all checked")
    approve_after_hours: float = Field(default=24, ge=0, le=720)


class CampaignConfig(Section):
    """A whole campaign file."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)
    preset: Literal["nocaps", "coco-c5", "coco-c40"] | None = None
    kind: str = "caption"
    selection: str = Field(min_length=1)
    references: int = Field(default=10, ge=1, le=1000)
    baselines: int = Field(default=1, ge=0, le=1)
    seed: int = 0
    budget: Money = Field(ge=0)
    captions: CaptionRules = CaptionRules()
    priming: Priming = Priming()
    instructions: Instructions = Instructions()
    hit: Hit = Hit()
    workers: Workers = Workers()
    review: Review = Review()

    @model_validator(mode="after")
    def _auto_approval_leaves_time_to_review(self) -> "CampaignConfig":
        if self.hit.auto_approval_days * 24 < self.review.approve_after_hours:
            raise ValueError(
                "review.approve_after_hours is longer than hit.auto_approval_days, after which "
                "the marketplace approves by itself"
            )
        return self

    @property
    def wanted(self) -> int:
        """Responses per image."""
        return self.references + self.baselines


# Values that a preset gives where the file says nothing. nocaps: Agrawal et al. 2019, section 3.1;
# COCO: Chen et al. 2015, section 3 (no priming, 5 or 40 references and one more for comparison).
PRESETS: dict[str, dict[str, Any]] = {
    "nocaps": {"references": 10, "baselines": 1, "priming": {"share": 1.0}},
    "coco-c5": {"references": 5, "baselines": 1, "priming": {"share": 0.0}},
    "coco-c40": {"references": 40, "baselines": 1, "priming": {"share": 0.0}},
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
    preset = values.get("preset")
    base = PRESETS.get(preset, {}) if isinstance(preset, str) else {}
    try:
        return CampaignConfig.model_validate(merged(base, values))
    except ValidationError as error:
        raise CampaignFileError("\n".join(_explain(fault) for fault in error.errors())) from error


def read_config(path: Path) -> CampaignConfig:
    """The campaign file at `path`; raises CampaignFileError."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CampaignFileError(f"{path}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CampaignFileError(f"{path} is not a TOML file: {error}.") from error
    return parse_config(values)


def _explain(fault: Any) -> str:
    """One fault as `section.key: what is wrong`."""
    key = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{key}: there is no such key"
    message = fault["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if key and not isinstance(fault["input"], dict):
        message += f", not {fault['input']!r}"
    return f"{key}: {message}" if key else message
