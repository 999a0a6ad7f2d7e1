"""What the function of a job's kind gets, and how it says how far it is.

The function calls `step`, `progress` and `log`. They only keep the values; a thread of the runner
stores them every two seconds through a connection of its own, so a page shows them also while the
function is in a transaction. Without that thread (in tests) they are stored at once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Protocol, TypeVar

from django.db.models import Model
from django.utils import timezone

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
    """What a job's row does not say yet."""

    step: str | None = None
    done: int | None = None
    total: int | None = None
    lines: list[tuple[Any, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.step is not None or self.done is not None or self.lines)


class Store(Protocol):
    """Stores the news of a job at once."""

    def __call__(self, work: "Work") -> None: ...


class Work:
    """A running job, as the function of its kind sees it."""

    def __init__(self, job: Job, store: Store | None = None) -> None:
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

    def about(self, kind: type[Row]) -> Row:
        """The campaign, release or other row that the job is about; raises JobFailed if it is about
        something else."""
        found = self.job.about
        if not isinstance(found, kind):
            raise JobFailed(f"This job is about no {kind._meta.verbose_name}.")
        return found

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
        and WorkerStopped if this process is to end. Call it between batches, outside of what must
        not be left half done."""
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
