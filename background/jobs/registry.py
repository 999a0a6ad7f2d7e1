"""The kinds of jobs.

An app registers its kinds in its module or package `job_kinds`, which is imported when a kind is
first looked up. So this app knows no other one, and commands without jobs import none of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import autodiscover_modules

from background.jobs.work import Result, Work
from corpora.errors import DomainError


class UnknownKind(DomainError):
    """No app has registered this kind of job."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    `work` does the work. It may run again after a worker was killed, so it must be safe to repeat.
    `title` names a job from its arguments and what it is about. `attempts` limits how often it is
    started if workers die or the database fails. With `is_repeatable`, a job that is done can be
    run again; failed and cancelled ones always can. With `is_shared`, a second request for the same
    work gets the job that waits or runs already; without `joins_running`, only one that waits,
    because one that runs may have passed what has changed since.
    """

    name: str
    label: str
    work: Callable[[Work], Result]
    title: Callable[[Mapping[str, Any], Any], str] | None = None
    attempts: int = 3
    is_repeatable: bool = False
    is_shared: bool = True
    joins_running: bool = True

    def title_of(self, arguments: Mapping[str, Any], about: Any) -> str:
        if self.title is not None:
            return self.title(arguments, about)[:200]
        return f"{self.label}: {about}"[:200] if about else self.label


_kinds: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    """Add a kind; raises ValueError if another one has its name."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"The kind of job {kind.name!r} is registered already.")


def kind_named(name: str) -> JobKind:
    """The kind; raises UnknownKind."""
    autodiscover_modules("job_kinds")
    if name not in _kinds:
        raise UnknownKind(f"This installation has no jobs of the kind {name!r}.")
    return _kinds[name]
