"""A worker's ratings of an image's captions, as plain Python.

An answer maps a caption's number on the page, from 1, and a question to a rating:
`{"1": {"true": 5, "complete": 4, "fluent": 5}}`. The three questions were among those of the COCO
captioning challenge of 2015: correctness, detail, and grammar (Chen et al. 2015, section 6).

The texts here are English; the task page translates them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Literal, Self

from pydantic import Field, model_validator

from annotate.campaign_file import CampaignConfig, Section
from corpora.language.languages import is_english
from corpora.language.text import gettext_noop

# Maximum number of captions on one page; more would tire workers.
MOST_CAPTIONS = 12


class Source(Section):
    """The source of captions: a release or a caption set."""

    name: str = Field(
        pattern=r"^[\w.-]+( [\w.-]+)*$", max_length=40, description="as results name it"
    )
    release: str | None = Field(default=None, min_length=1, description="its captions are rated")
    caption_set: str | None = Field(
        default=None, min_length=1, description="or those of this caption set"
    )
    role: Literal["references", "baseline"] = Field(
        default="references", description="which captions of the release"
    )
    per_image: int = Field(default=1, ge=1, le=10, description="captions of each image, at most")

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.release is None) == (self.caption_set is None):
            raise ValueError("name exactly one of release and caption_set")
        return self


class Rating(Section):
    """Which sources are rated, and how many images."""

    sources: tuple[Source, ...] = Field(default=(), description="whose captions are rated")
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


Ratings = Mapping[str, int]
Answer = Mapping[str, Ratings]

SCALE = range(1, 6)
# Expected squared difference of two ratings that are independent and uniform on the scale.
BY_CHANCE = 4.0


@dataclass(frozen=True)
class Question:
    """A question about a caption, with labels for the ratings 1 to 5."""

    name: str
    text: str
    labels: tuple[str, str, str, str, str]


QUESTIONS = (
    Question(
        "true",
        gettext_noop("Is it true of the image?"),
        (
            gettext_noop("false"),
            gettext_noop("mostly false"),
            gettext_noop("half true"),
            gettext_noop("mostly true"),
            gettext_noop("true"),
        ),
    ),
    Question(
        "complete",
        gettext_noop("Does it say what is important?"),
        (
            gettext_noop("nothing"),
            gettext_noop("little"),
            gettext_noop("half"),
            gettext_noop("most"),
            gettext_noop("all"),
        ),
    ),
    Question(
        "fluent",
        "Is it fluent English?",
        (
            gettext_noop("broken"),
            gettext_noop("poor"),
            gettext_noop("fair"),
            gettext_noop("good"),
            gettext_noop("flawless"),
        ),
    ),
)
NAMES = tuple(question.name for question in QUESTIONS)
IS_FLUENT = gettext_noop("Is it fluent?")


def questions_in(language: str) -> tuple[Question, ...]:
    """The questions about captions in a language, by its BCP 47 tag."""
    if is_english(language):
        return QUESTIONS
    *others, fluent = QUESTIONS
    return (*others, replace(fluent, text=IS_FLUENT))


def field_name(question: str, caption: int, task: int) -> str:
    """The form's field for one rating; it ends in the task's number."""
    return f"{question}-{caption}-{task}"


def parse(fields: Mapping[str, str], *, captions: int, task: int) -> dict[str, dict[str, int]]:
    """The ratings in the fields, without missing and invalid ones."""
    found: dict[str, dict[str, int]] = {}
    for caption in range(1, captions + 1):
        given = {name: fields.get(field_name(name, caption, task), "") for name in NAMES}
        ratings = {name: int(value) for name, value in given.items() if value in list("12345")}
        if ratings:
            found[str(caption)] = ratings
    return found


def values(answer: Answer) -> Iterator[int]:
    """All ratings of an answer."""
    for ratings in answer.values():
        yield from ratings.values()


def all_the_same(answer: Answer) -> int:
    """The number of ratings if all are the same and they rate several captions; otherwise 0."""
    given = list(values(answer))
    return len(given) if len(answer) > 1 and len(set(given)) == 1 else 0


def similarity(one: Answer, other: Answer) -> float:
    """Similarity of two answers, 0 to 1; 0 if their ratings agree no better than by chance."""
    apart = [
        (rating - other[caption][question]) ** 2
        for caption, ratings in one.items()
        for question, rating in ratings.items()
        if question in other.get(caption, {})
    ]
    return max(0.0, 1 - fmean(apart) / BY_CHANCE) if apart else 0.0


def mean_similarities(answers: Mapping[int, Answer]) -> dict[int, float]:
    """For each answer to one task, its mean similarity to the others."""
    found: dict[int, list[float]] = {key: [] for key in answers}
    for one, other in combinations(answers, 2):
        alike = similarity(answers[one], answers[other])
        found[one].append(alike)
        found[other].append(alike)
    return {key: fmean(shares) if shares else 0.0 for key, shares in found.items()}


def missing(answer: Answer, captions: int) -> Sequence[tuple[int, Question]]:
    """The missing ratings of an answer, as pairs of the caption's number and the question."""
    return [
        (caption, question)
        for caption in range(1, captions + 1)
        for question in QUESTIONS
        if question.name not in answer.get(str(caption), {})
    ]
