"""What a kind of task is: its subject, form, checks, answer, reviews, release and files.

`docs/adding-a-task-type.md` goes through the parts in the order in which you write them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from django.db.models import Model, QuerySet

from annotate.campaign_file import CampaignConfig, Section
from annotate.errors import DomainError
from annotate.exports.files import Files, write_files
from annotate.language.text import Problem
from annotate.models import Answer, Campaign, Release, ReleasedImage, Response, Task


class CampaignNotPossible(DomainError):
    """The campaign cannot be made from this file in this database."""


class AnswerRefused(DomainError):
    """The answer breaks rules of the campaign."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.problems = list(problems)


class AnswerMissing(DomainError):
    """The fields hold no answer to this task."""


class Candidate(NamedTuple):
    """A response that a release may draw. There are a hundred thousand of them, so only what the
    draw and `freeze` need."""

    pk: int
    worker_id: int
    answer: Any


class Drawn(NamedTuple):
    """A task of a release with the responses drawn for it, in the order of the draw."""

    task: Task
    responses: list[Candidate]


class Sign(NamedTuple):
    """A sign of careless work that only this kind of task has; it becomes a flag."""

    code: str
    value: float
    threshold: float
    why: str  # a sentence for the reviewer


@dataclass(frozen=True)
class Templates:
    """The paths of a kind's templates."""

    task: str  # one task of the form, disabled in the preview; with `context`
    instructions: str  # above the form
    facts: str  # the kind's part of the campaign's page; with `campaign` and `rules`
    answer: str  # one `response`; with `answer_context`
    released_files: str  # what the files of a release are; with `release`
    released: str  # one `image` of a release; with `released_context`

    @classmethod
    def of(cls, kind: str) -> Self:
        """Those in the kind's folder, `templates/kinds/NAME/`."""
        return cls(**{field.name: f"kinds/{kind}/{field.name}.html" for field in fields(cls)})


class TaskKind(ABC):
    """A kind of task. What it says of `answer` is the value that `check` and `read` return; other
    modules pass it on and never look inside."""

    name: ClassVar[str]
    # What a task is about, and what workers make of it: `image`, `caption`, `captions`.
    subject_name: ClassVar[str]
    answer_name: ClassVar[str]
    answers_name: ClassVar[str]

    # The campaign file: the kind's section, which has its name; its defaults; its presets.
    section: ClassVar[type[Section] | None] = None
    defaults: ClassVar[Mapping[str, Any]] = {}
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    # Static files that the task page loads on top of its own.
    scripts: ClassVar[tuple[str, ...]] = ()
    styles: ClassVar[tuple[str, ...]] = ()

    # Where an answer is stored, seen from Response: the relations for `select_related`, and the
    # field. Only this class reads the field.
    answer_relations: ClassVar[tuple[str, ...]] = ("answer",)
    answer_field: ClassVar[str] = "answer__content"
    # Whether a plain text can be an answer, as for gold items that a reviewer makes up and for
    # files of captions that were collected elsewhere.
    takes_text: ClassVar[bool] = False

    # What may be wrong with an answer, each under a name for the form. Reviewers choose by number
    # keys in this order, and one more is for reasons of their own: so eight at most.
    faults: ClassVar[Mapping[str, str]]
    # Whether the answer's template has the image in it, so that pages show none of their own.
    answer_shows_image: ClassVar[bool] = False

    # What a release can be downloaded as: each file's name with what writes it, piece by piece;
    # the command that writes them into a folder; the relations of ReleasedImage that a page needs.
    files: ClassVar[Files]
    export_command: ClassVar[str] = "export"
    released_relations: ClassVar[tuple[str, ...]] = ()

    @property
    def templates(self) -> Templates:
        return Templates.of(self.name)

    # The campaign and its tasks

    def rules(self, config: CampaignConfig) -> Any:
        """The kind's section of the campaign file; None for a kind without."""
        if self.section is None:
            return None
        return self.section.model_validate((config.model_extra or {}).get(self.name, {}))

    @abstractmethod
    def material(self, config: CampaignConfig, at: datetime) -> dict[str, Any]:
        """The field of Campaign that says what it works on; raises CampaignNotPossible."""

    @abstractmethod
    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """The tasks of a new campaign, not yet saved; raises CampaignNotPossible."""

    # The form

    @abstractmethod
    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """What the template needs of the task; `fields` hold the answer so far."""

    @abstractmethod
    def field_names(self, task: Task) -> list[str]:
        """The form's fields that make up an answer. Each ends in `-` and the task's number, so
        that one form can hold several tasks."""

    @abstractmethod
    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> Any:
        """The answer in the fields; raises AnswerMissing or AnswerRefused."""

    @abstractmethod
    def read(self, task: Task, fields: Mapping[str, str]) -> Any:
        """The answer as the marketplace reports it, rules aside: it was submitted, so it counts
        until somebody discards it; raises AnswerMissing."""

    @abstractmethod
    def fields_of(self, task: Task, answer: Any) -> dict[str, str]:
        """The fields that hold an answer to the task, as `read` takes them."""

    # Stored answers

    def row(self, response: Response, answer: Any) -> Model:
        """The row that stores an answer, not yet saved; the response has it from now on."""
        return Answer(response=response, content=answer)

    def store(self, answers: Sequence[tuple[Response, Any]]) -> None:
        """Save the answers of responses that have none yet."""
        rows = [self.row(response, answer) for response, answer in answers]
        if rows:
            type(rows[0])._default_manager.bulk_create(rows)

    def answer(self, response: Response) -> Any:
        """A response's answer."""
        return attrgetter(self.answer_field.replace("__", "."))(response)

    def with_answers(
        self, rows: QuerySet[Any], *columns: str, response: str = ""
    ) -> QuerySet[Any, Any]:
        """These columns of the rows and, as the last one, the answer. `response` is the path from
        a row to its Response, such as `response__`."""
        return rows.values_list(*columns, response + self.answer_field)

    # Quality control

    def from_text(self, text: str) -> Any:
        """The answer that a plain text is, for kinds with `takes_text`."""
        raise NotImplementedError

    def text(self, answer: Any) -> str | None:
        """What the worker wrote, for the flags of careless writing; None where nothing is
        written."""
        return None

    def signs(self, answer: Any, config: CampaignConfig) -> list[Sign]:
        """Signs of careless work in one answer, besides those that all kinds share."""
        return []

    def agreements(self, answers: Mapping[int, Any]) -> dict[int, float]:
        """How far each answer to one task agrees with the others, by response: the mean of a
        symmetric similarity, 0 to 1. Empty where answers are not meant to be the same."""
        return {}

    def answer_context(self, response: Response) -> dict[str, Any]:
        """What the answer's template needs besides the `response`."""
        return {}

    def summary(self, response: Response) -> str:
        """A line for tables that says what was answered, or what the task is about."""
        return self.text(self.answer(response)) or str(response.task.subject or "")

    def judge_payload(self, response: Response) -> dict[str, Any]:
        """What programs that judge get of a response, in JSON's types, under `caption` and
        `answer`: the caption that was written or worked on, and the answer if it is no caption."""
        return {"answer": self.answer(response)}

    def judge_line(self, response: Response) -> str:
        """The same as one line for people."""
        return self.summary(response)

    # The release

    @abstractmethod
    def freeze(self, release: Release, drawn: Sequence[Drawn], numbers: Mapping[int, int]) -> None:
        """Copy what was drawn into the release; `numbers` has each worker's number in it."""

    def released_context(self, image: ReleasedImage) -> dict[str, Any]:
        """What the template of one released item needs besides the `image`."""
        return {}

    def write(self, release: Release, out_dir: Path) -> list[Path]:
        """Write the release's files into a folder; returns their paths. Raises DomainError for a
        release of another kind."""
        return write_files(release, self.files, out_dir, kind=self.name)
