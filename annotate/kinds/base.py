"""What a kind of task must bring: its form, its checks, its answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from annotate.config import CampaignConfig
from annotate.errors import DomainError
from annotate.models import Response, Task
from annotate.text import Problem


class AnswerRefused(DomainError):
    """The answer breaks rules of the campaign."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(" ".join(problem.message for problem in problems))
        self.problems = list(problems)


class AnswerMissing(DomainError):
    """The fields hold no answer to this task."""


class TaskKind(Protocol):
    """A kind of task. Field names carry the task's number, so that one form can hold several."""

    name: str
    # Shown inside the task page's form, once for each task, with `context` and the answer so far.
    template_name: str
    instructions_template_name: str

    def context(self, task: Task, config: CampaignConfig) -> dict[str, Any]:
        """What the template needs of the task."""

    def field_names(self, task: Task) -> list[str]:
        """The form's fields that make up an answer."""

    def check(self, task: Task, config: CampaignConfig, fields: Mapping[str, str]) -> Any:
        """The answer in the fields; raises AnswerMissing or AnswerRefused."""

    def read(self, task: Task, fields: Mapping[str, str]) -> Any:
        """The answer as the marketplace reports it, rules aside: it was submitted, so it counts
        until somebody discards it; raises AnswerMissing."""

    def store(self, response: Response, answer: Any) -> None:
        """Write the answer as the response's content, in place of an earlier one."""

    def fields_of(self, response: Response) -> dict[str, str]:
        """The fields that hold the response's answer."""
