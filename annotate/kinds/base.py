"""What a kind of task must bring: what it is about, its form, its checks, its answer, its release.

`docs/adding-a-task-type.md` goes through it in the order in which one writes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from annotate.campaign_file import CampaignConfig
from annotate.errors import DomainError
from annotate.exports.files import Files
from annotate.language.text import Problem
from annotate.models import Campaign, Release, Response, Task


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
    """A response as a release needs it; a row of a hundred thousand, so no more than that."""

    pk: int
    worker_id: int
    content: Any


class Drawn(NamedTuple):
    """A task of a release with the responses drawn for it, in the order of the draw."""

    task: Task
    responses: list[Candidate]


class TaskKind(Protocol):
    """A kind of task. Field names end in the task's number, so that one form can hold several."""

    name: str
    # What a task is about, and what workers make of it: `image`, `caption`, `captions`.
    subject_name: str
    answer_name: str
    answers_name: str
    # What may be wrong with an answer, each under a name for the form. Reviewers choose by number
    # keys in this order, and one more is for reasons of their own: so eight at most.
    faults: dict[str, str]
    # Shown inside the task page's form, once for each task, with what `context` gives.
    template_name: str
    instructions_template_name: str
    # Static files that the task page loads on top of its own.
    scripts: tuple[str, ...]
    styles: tuple[str, ...]
    # What the campaign's page says of its file, on top of what all campaigns have.
    facts_template_name: str
    # One answer as a reviewer sees it, with the `response` in the context; whether that has the
    # image in it, so that the page shows none of its own.
    answer_template_name: str
    answer_shows_image: bool
    # The relations of a Response that hold its answer, for `select_related`.
    content: tuple[str, ...]
    # Where the answer stands that a release copies, seen from Response; whether it is text.
    content_column: str
    is_text: bool
    # The command that writes a release into a folder.
    export_command: str
    # A release's page: what it says of the files, and one task's answers (an `image` of it).
    released_files_template_name: str
    released_template_name: str
    released_content: tuple[str, ...]
    # What a release can be downloaded as: each file's name with what writes it, piece by piece.
    files: Files

    def material(self, config: CampaignConfig, at: datetime) -> dict[str, Any]:
        """The field of Campaign that says what it works on; raises CampaignNotPossible."""

    def tasks(self, campaign: Campaign) -> Iterator[Task]:
        """The tasks of a new campaign, not yet written."""

    def context(
        self, task: Task, config: CampaignConfig, fields: Mapping[str, str]
    ) -> dict[str, Any]:
        """What the template needs of the task; `fields` hold the answer so far."""

    def field_names(self, task: Task) -> list[str]:
        """The form's fields that make up an answer."""

    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> Any:
        """The answer in the fields; raises AnswerMissing or AnswerRefused."""

    def read(self, task: Task, fields: Mapping[str, str]) -> Any:
        """The answer as the marketplace reports it, rules aside: it was submitted, so it counts
        until somebody discards it; raises AnswerMissing."""

    def store(self, answers: Sequence[tuple[Response, Any]]) -> None:
        """Write each answer as the content of its response, which has none yet."""

    def fields_of(self, task: Task, answer: Any) -> dict[str, str]:
        """The fields that hold an answer to the task, as `read` takes them."""

    def text(self, response: Response) -> str:
        """What the worker wrote, for the signs of careless writing; empty for a kind without."""

    def told(self, response: Response) -> dict[str, Any]:
        """What programs that judge are shown of the response, as JSON has it: the `caption` that
        was written or worked on, and the `answer` where that is something else."""

    def agreements(self, contents: Mapping[int, Any]) -> dict[int, float]:
        """How far each answer to one task agrees with the others, from what stands in their
        `content_column`, by response: the mean of a symmetric similarity, 0 to 1."""

    def freeze(self, release: Release, drawn: Sequence[Drawn], numbers: Mapping[int, int]) -> None:
        """Copy what was drawn into the release; `numbers` has each worker's number in it."""
