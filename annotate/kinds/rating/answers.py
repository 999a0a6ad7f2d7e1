"""A worker's ratings of an image's captions, as plain Python.

An answer maps a caption's number on the page, from 1, and a question to a rating, the number of a
label: `{"1": {"true": 5, "complete": 4, "fluent": 5}}`. The three questions, unless a file has its
own, were among those of the COCO captioning challenge of 2015: correctness, detail, and grammar
(Chen et al. 2015, section 6). Under "marks", it has what the worker marked
(`annotate.kinds.rating.marks`).

The texts here are English; the task page translates them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from annotate.campaign_file import CampaignConfig, KindSection, Section
from annotate.kinds.rating.marks import MARKS
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

    @property
    def in_words(self) -> str:
        origin = f"{self.role} of the release {self.release}" if self.release else ""
        return f"{self.name} ({origin or f'caption set {self.caption_set}'})"


# Columns and keys of files besides the questions, and the keys of marks and missing things in items
# for programs that judge.
TOTAL = "total"
RESERVED = {
    *(TOTAL, "worker", "source", "image", "image_id", "file_name"),
    *("caption", "caption_id", "raters", "id", "response", "wrong", "missing"),
}


def free_name(name: str) -> str:
    """The name; raises ValueError if a release has something else under it."""
    if name in RESERVED:
        raise ValueError(f"a question cannot have the name {name}")
    return name


Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z_]*$", max_length=30), AfterValidator(free_name)
]
Points = Annotated[float, Field(ge=-10, le=10)]
Label = Annotated[str, Field(min_length=1, max_length=60)]


class Question(Section):
    """A question about a caption, with the labels of its answers and the points of each."""

    name: Name = Field(description="as results name it")
    text: str = Field(min_length=1, max_length=200, description="the question")
    help: str = Field(default="", max_length=1000, description="for the instructions")
    labels: tuple[Label, ...] = Field(min_length=2, max_length=5, description="from 1 on")
    points: tuple[Points, ...] = Field(
        default=(), description="of each label: 1, 2, … unless given; a penalty's are below 0"
    )

    @model_validator(mode="after")
    def _labels_have_points(self) -> Self:
        if self.points and len(self.points) != len(self.labels):
            raise ValueError("give as many points as labels")
        return self

    @property
    def is_penalty(self) -> bool:
        return any(point < 0 for point in self.points)

    def points_of(self, rating: int) -> float:
        """The points of a rating, which is a label's number from 1."""
        return self.points[rating - 1] if self.points else rating


class Judging(KindSection):
    """Whose captions are judged, of how many images, and whether words are marked."""

    sources: tuple[Source, ...] = Field(default=(), description="whose captions are rated")
    images: int | None = Field(default=None, ge=1, description="drawn at random; all unless given")
    same_form: bool = Field(default=True, description="a capital first, a full stop last")
    marks: bool = Field(
        default=False, description="workers mark wrong words and write what is missing"
    )

    @model_validator(mode="after")
    def _sources_fit_on_a_page(self) -> Self:
        names = [source.name for source in self.sources]
        if len(set(names)) < len(names):
            raise ValueError("two sources have the same name")
        if sum(source.per_image for source in self.sources) > MOST_CAPTIONS:
            raise ValueError(f"the sources give more than {MOST_CAPTIONS} captions of an image")
        return self

    def methods(self) -> Iterator[str]:
        """Sentences about what was judged, for the text on a release's methods."""
        yield f"Sources of the captions: {', '.join(source.in_words for source in self.sources)}."
        if self.images is not None:
            yield f"Images: at most {self.images:,}, drawn at random from those with captions."
        yield "Workers saw captions in random order, without their sources."
        if self.marks:
            yield "Workers could mark the words that are not true, and write what is missing."


class Rating(Judging):
    """Which sources are rated, and by which questions."""

    questions: tuple[Question, ...] = Field(
        default=(), max_length=8, description="in place of the three of COCO's challenge"
    )
    key: ClassVar[str] = "rating"

    @model_validator(mode="after")
    def _questions_differ(self) -> Self:
        asked = [question.name for question in self.questions]
        if len(set(asked)) < len(asked):
            raise ValueError("two questions have the same name")
        if asked and all(question.is_penalty for question in self.questions):
            raise ValueError("not all questions can be penalties")
        return self


Ratings = Mapping[str, int]
Answer = Mapping[str, Any]


QUESTIONS = (
    Question(
        name="true",
        text=gettext_noop("Is it true of the image?"),
        labels=(
            gettext_noop("false"),
            gettext_noop("mostly false"),
            gettext_noop("half true"),
            gettext_noop("mostly true"),
            gettext_noop("true"),
        ),
    ),
    Question(
        name="complete",
        text=gettext_noop("Does it say what is important?"),
        labels=(
            gettext_noop("nothing"),
            gettext_noop("little"),
            gettext_noop("half"),
            gettext_noop("most"),
            gettext_noop("all"),
        ),
    ),
    Question(
        name="fluent",
        text="Is it fluent English?",
        labels=(
            gettext_noop("broken"),
            gettext_noop("poor"),
            gettext_noop("fair"),
            gettext_noop("good"),
            gettext_noop("flawless"),
        ),
    ),
)
IS_FLUENT = gettext_noop("Is it fluent?")


def questions_of(config: CampaignConfig) -> tuple[Question, ...]:
    """The questions of the campaign's file, or else those of COCO's challenge in its language."""
    if own := Rating.of(config).questions:
        return own
    if is_english(config.language):
        return QUESTIONS
    *others, fluent = QUESTIONS
    return (*others, fluent.model_copy(update={"text": IS_FLUENT}))


# The number of labels of each question, by its name.
Scales = Mapping[str, int]


def scored_names(questions: Sequence[Question]) -> list[str]:
    """What captions have scores for: the questions, and the total if there are penalties."""
    names = [question.name for question in questions]
    return [*names, TOTAL] if any(question.is_penalty for question in questions) else names


def points_of(ratings: Ratings, questions: Sequence[Question]) -> dict[str, float]:
    """The points of a worker's ratings of a caption, by what captions have scores for.

    The total is the mean of the questions that are no penalties, plus the penalties (Kasai et al.
    2022, section 2.1). There is none if an answer is missing.
    """
    points = {
        question.name: question.points_of(ratings[question.name])
        for question in questions
        if question.name in ratings
    }
    if TOTAL in scored_names(questions) and len(points) == len(questions):
        penalties = {question.name for question in questions if question.is_penalty}
        mean = fmean(value for name, value in points.items() if name not in penalties)
        points[TOTAL] = mean + fsum(points[name] for name in penalties)
    return points


def field_name(question: str, caption: int, task: int) -> str:
    """The form's field for one rating; it ends in the task's number."""
    return f"{question}-{caption}-{task}"


def parse(fields: Mapping[str, str], *, captions: int, task: int, scales: Scales) -> dict[str, Any]:
    """The ratings in the fields, without missing and invalid ones."""
    answer: dict[str, Any] = {}
    for caption in range(1, captions + 1):
        given = {name: fields.get(field_name(name, caption, task), "") for name in scales}
        ratings = {
            name: int(value)
            for name, value in given.items()
            if value in list("12345")[: scales[name]]
        }
        if ratings:
            answer[str(caption)] = ratings
    return answer


def ratings_of(answer: Answer) -> dict[str, Ratings]:
    """The ratings of an answer, by caption, without the marks."""
    return {caption: ratings for caption, ratings in answer.items() if caption != MARKS}


def values(answer: Answer) -> Iterator[int]:
    """All ratings of an answer."""
    for ratings in ratings_of(answer).values():
        yield from ratings.values()


def all_the_same(answer: Answer) -> int:
    """The number of ratings if all are the same and they rate several captions; otherwise 0."""
    given = list(values(answer))
    return len(given) if len(ratings_of(answer)) > 1 and len(set(given)) == 1 else 0


def similarity(one: Answer, other: Answer, scales: Scales) -> float:
    """Similarity of two answers, 0 to 1; 0 if their ratings agree no better than by chance."""
    apart = [
        (rating - other[caption][question]) ** 2 / _by_chance(scales[question])
        for caption, ratings in ratings_of(one).items()
        for question, rating in ratings.items()
        if question in other.get(caption, {})
    ]
    return max(0.0, 1 - fmean(apart)) if apart else 0.0


def _by_chance(labels: int) -> float:
    """Expected squared difference of two ratings that are independent and uniform."""
    return (labels**2 - 1) / 6


def mean_similarities(answers: Mapping[int, Answer], scales: Scales) -> dict[int, float]:
    """For each answer to one task, its mean similarity to the others."""
    similarities: dict[int, list[float]] = {key: [] for key in answers}
    for one, other in combinations(answers, 2):
        alike = similarity(answers[one], answers[other], scales)
        similarities[one].append(alike)
        similarities[other].append(alike)
    return {key: fmean(shares) if shares else 0.0 for key, shares in similarities.items()}


def missing(answer: Answer, captions: int, names: Iterable[str]) -> list[int]:
    """The numbers of the captions that lack an answer to one of the questions."""
    asked = set(names)
    return [
        caption for caption in range(1, captions + 1) if asked - answer.get(str(caption), {}).keys()
    ]
