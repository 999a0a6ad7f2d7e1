"""The kinds of jobs; what the function of a kind gets, and how it says how far it is.

An app registers its kinds in its module or package `job_kinds`, which is imported when a kind is
first looked up. So this app knows no other one, and commands without jobs import none of them.

The function calls `step`, `progress` and `log`. They only keep the values; a thread of the runner
stores them every two seconds through its own connection, so a page shows them also while the
function is in a transaction. Without that thread they are stored at once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, TypeVar

from django.db.models import Model
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules

from background.models import Job
from corpora.errors import DomainError

T = TypeVar("T")
Row = TypeVar("Row", bound=Model)

# More lines would make the job's page too long to read.
MOST_LINES = 500
# Set when this process is to end: jobs in its threads, which get no signal, are given back.
stopping = Event()


class JobFailed(DomainError):
    """The job cannot be done; the message says why. It is not tried again by itself."""


class JobInterrupted(DomainError):
    """The work met a failure that may pass; the message says which. It is tried again after a
    pause, as often as its kind allows."""


class JobPostponed(DomainError):
    """The job cannot be done at this moment; the message says why. It is started again later."""


# These three are not Exceptions, so that no work catches them as a failure of one of its parts.
class JobCancelled(BaseException):
    """Somebody has asked for the job to be cancelled."""


class WorkerStopped(BaseException):
    """This process is to end."""


class LeaseLost(BaseException):
    """Another worker has taken the job, so this one must stop."""


@dataclass(frozen=True)
class Result:
    """How a job ended: a sentence, and a page or a file below MEDIA_ROOT to open."""

    text: str = ""
    url: str = ""
    file: str = ""


@dataclass
class News:
    """Changes that the job's row does not have yet."""

    step: str | None = None
    done: int | None = None
    total: int | None = None
    lines: list[tuple[Any, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.step is not None or self.done is not None or self.lines)


class Work:
    """A running job, as the function of its kind sees it."""

    def __init__(self, job: Job, store: "Callable[[Work], None] | None" = None) -> None:
        self.job = job
        self._store = store
        self._lock = Lock()
        self._news = News()
        self._lines = 0
        self.cancelled, self.lost = Event(), Event()

    @property
    def arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = self.job.arguments
        return arguments

    @property
    def is_repeated(self) -> bool:
        """Whether an earlier attempt has begun the work, also one that does not count. To be asked
        before the first step."""
        return self.job.attempts > 1 or self.job.lines.exists()

    def about(self, kind: type[Row]) -> Row:
        """The campaign, release or other row that the job is about; raises JobFailed if it is about
        something else."""
        about = self.job.about
        if not isinstance(about, kind):
            raise JobFailed(f"This job is about no {kind._meta.verbose_name}.")
        return about

    def step(self, text: str, *, total: int | None = None) -> None:
        """Begin a step: say in words what happens now, and how much there is to do if known.

        Raises JobCancelled and LeaseLost, as `progress` and `check` do.
        """
        with self._lock:
            self._news.step, self._news.done, self._news.total = text[:200], 0, total
        self.log(text)
        self.check()

    def progress(self, done: int) -> None:
        """Say how much of the step is done. Call it between batches."""
        with self._lock:
            self._news.done = done
            if self._news.total is not None:
                self._news.done = min(done, self._news.total)
        self.check()

    def expect(self, total: int) -> None:
        """Say how much there is to do in the step, and count from 0 again."""
        with self._lock:
            self._news.total, self._news.done = total, 0

    def each(self, items: Iterable[T], *, total: int | None = None) -> Iterator[T]:
        """Yield the items, and count them as progress of the step."""
        if total is not None:
            self.expect(total)
        for number, item in enumerate(items, start=1):
            yield item
            self.progress(number)

    def log(self, text: str) -> None:
        """Append a line to the job's log. No worker id may be in it."""
        with self._lock:
            self._lines += 1
            if self._lines <= MOST_LINES:
                self._news.lines.append((timezone.now(), text))

    def check(self) -> None:
        """Raise JobCancelled if somebody has cancelled the job, LeaseLost if another worker has it,
        and WorkerStopped if this process is to end. Call it between batches, where the work can
        stop without harm."""
        if stopping.is_set():
            raise WorkerStopped
        if self._store is not None:
            self._store(self)
        if self.lost.is_set():
            raise LeaseLost
        if self.cancelled.is_set():
            raise JobCancelled

    def take_news(self) -> News:
        """The news since the last call."""
        with self._lock:
            news = self._news
            self._news = News(total=news.total)
        return news

    def put_back(self, news: News) -> None:
        """Keep news that could not be stored; newer values win."""
        with self._lock:
            newer = self._news
            self._news = News(
                newer.step if newer.step is not None else news.step,
                newer.done if newer.done is not None else news.done,
                newer.total,
                [*news.lines, *newer.lines],
            )


class UnknownKind(DomainError):
    """No app has registered this kind of job."""


@dataclass(frozen=True)
class JobKind:
    """A kind of job.

    `work` does the work. It may run again after a worker was killed, so it must be safe to repeat.
    `title` names a job from its arguments and what it is about. With `is_repeatable`, a job that is
    done can be run again; failed and cancelled ones always can. A second request for the same work
    gets the job that waits or runs already; without `joins_running`, only one that waits, because a
    running one may not see later changes. `resent` names the argument that differs when the same
    files are sent again.
    """

    name: str
    label: str
    work: Callable[[Work], Result]
    title: Callable[[Mapping[str, Any], Any], str] | None = None
    is_repeatable: bool = False
    joins_running: bool = True
    resent: str = ""

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
