"""The state that the steps of one sync share, and the handling of their failures.

Several workers can read the HITs of a campaign, and pay for them, at the same time, each in shares
of its own. A HIT is always in the same share. A process that works in a share holds the share's
lock for this work and decides what is due after it has the lock. So a share can be taken up any
number of times, and a killed process leaves it to the next one.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import Any, TypeVar

from django.db import Error, InterfaceError, OperationalError
from django.db.models import F, QuerySet
from django.utils import timezone

from annotate.models import Campaign
from background.jobs.work import Work
from corpora.errors import DomainError, one_line
from hits.models import Bonus, Hit, Sync, WorkerMessage
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.mturk.replies import storable
from shared.database.locks import process_lock

# At most this many workers read, or pay, for one campaign at the same time.
SHARES = range(4)
# Numbers of HITs that are read, and of payments, before a worker turns to another campaign.
AT_ONCE = 200
# Time for payments in one sync of a process that does other work, too.
PAYS_FOR = timedelta(minutes=2)

Rows = TypeVar("Rows", bound=QuerySet[Any, Any])


class ShareWork(StrEnum):
    """What is done in shares."""

    READ = "read"
    PAY = "pay"


@contextmanager
def held_shares(campaign: Campaign, work: ShareWork, wanted: Sequence[int]) -> Iterator[list[int]]:
    """Hold the locks of the wanted shares during the block; yield those that nobody else holds."""
    with ExitStack() as stack:
        yield [
            share
            for share in wanted
            if stack.enter_context(process_lock(f"sync-{campaign.pk}-{work}-{share}"))
        ]


def in_shares(rows: Rows, shares: Sequence[int], *, hit: str) -> Rows:
    """The rows whose HIT, by the column `hit`, is in these shares."""
    if len(shares) == len(SHARES):
        return rows
    chosen: Rows = rows.alias(share=F(hit) % len(SHARES)).filter(share__in=shares)
    return chosen


log = logging.getLogger(__name__)

NOTED_EVERY = timedelta(seconds=2)
# This many failures in a row are not caused by single HITs or assignments.
MOST_IN_A_ROW = 20
# A call counts as unanswered after minutes of retries. A single HIT can cause one such call, but
# not several.
MOST_UNANSWERED = 3

# The marketplace recognises a repeated token for a day (AWS's documentation). This is less by the
# time that a run may take.
TOKENS_HOLD = timedelta(hours=22)

Row = TypeVar("Row")


# Names of subjects. Pages show them with a problem, and the next sync recognises its subject by it.
def hit_name(hit: Hit | str) -> str:
    return f"HIT {hit}"


def assignment_name(key: int) -> str:
    return f"assignment {key}"


def bonus_name(bonus: Bonus) -> str:
    return f"bonus {bonus.pk}"


def message_name(message: WorkerMessage) -> str:
    return f"message {message.pk}"


class Done(Enum):
    """Rare results of a sync that its notes mention, worded for one and for several."""

    GONE = ("HIT is gone at the marketplace.", "HITs are gone at the marketplace.")
    ADOPTED = (
        "HIT that this database did not know was adopted.",
        "HITs that this database did not know were adopted.",
    )
    CLOSED = (
        "HIT of a campaign that this database does not have was closed.",
        "HITs of campaigns that this database does not have were closed.",
    )
    WITHDRAWN = ("response was withdrawn.", "responses were withdrawn.")
    GIVEN_UP = (
        "bonus was refused for good and is not paid.",
        "bonuses were refused for good and are not paid.",
    )
    HELD = ("held payment needs a decision.", "held payments need a decision.")

    def in_words(self, number: int) -> str:
        singular, several = self.value
        return f"{number:,} {singular if number == 1 else several}"


class StepStopped(DomainError):
    """A step ended early, because of too many failures or an empty account."""


@dataclass
class Run:
    """The state of one sync of one campaign, which the steps read and update.

    `named` has the HITs that events named. `troubled` has the subjects with problems in earlier
    syncs; they come last, so that they do not delay the others. `pays_for` limits the time that
    payments take. `at_most` limits the number of HITs that are read, and that of payments; what is
    left is done in shares. `shares` are those that this run reads and pays for. `job` shows the
    progress, and ends the run if it is cancelled.
    """

    campaign: Campaign
    marketplace: Marketplace
    at: datetime
    sync: Sync
    named: frozenset[str] = frozenset()
    troubled: frozenset[str] = frozenset()
    pays_for: timedelta | None = None
    at_most: int | None = None
    shares: Sequence[int] = SHARES
    job: Work | None = None
    problems: dict[str, str] = field(default_factory=dict)
    done: Counter[Done] = field(default_factory=Counter)
    is_cut_short: bool = False
    is_complete: bool = False
    hits_read: int = 0
    _begun: int = 0
    _failures_in_a_row: int = 0
    _unanswered: int = 0

    def note_progress(self) -> None:
        """Save the sync at most once every NOTED_EVERY, so that pages can show its progress."""
        now = timezone.now()
        if now - (self.sync.seen_at or self.at) >= NOTED_EVERY:
            self.sync.seen_at = now
            self.sync.save()

    @contextmanager
    def alone(self, subject: str, *, begins: bool = True, ends: bool = True) -> Iterator[None]:
        """Context in which one HIT, assignment or payment is processed, or a part of it: the first
        part `begins` it, and the last one `ends` it.

        An error is recorded under the subject's name, and the run continues. Raises StepStopped
        after MOST_IN_A_ROW failures in a row, the error of the call after MOST_UNANSWERED
        unanswered calls, and errors of the database connection.
        """
        if self.job and begins:
            self.job.progress(self._begun)
            self._begun += 1
        failures = self._failures_in_a_row
        try:
            yield
        except (InterfaceError, OperationalError, StepStopped):
            raise
        except Exception as error:
            self.note_problem(subject, error)
            self._stop_if_hopeless(error)
        else:
            is_failed = self._failures_in_a_row > failures or subject in self.problems
            if ends and not is_failed:  # no part of the subject failed either
                self._failures_in_a_row = 0

    def note_problem(self, subject: str, error: Exception) -> None:
        """Record the error under the subject's name, worded for the campaign's page."""
        if isinstance(error, DomainError):
            self.problems[subject] = str(error)
            return
        message = f"{type(error).__name__}: {one_line(error)}"
        self.problems[subject] = storable(f"An unexpected error: {message}")
        # The text of a database error contains values of its rows, perhaps a worker's id.
        traceback = None if isinstance(error, Error) else error
        log.warning("%s, %s: %s", self.campaign, subject, message, exc_info=traceback)

    def _stop_if_hopeless(self, error: Exception) -> None:
        if isinstance(error, MarketplaceError) and error.is_general:
            self._unanswered += 1
            if self._unanswered >= MOST_UNANSWERED:
                raise error
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= MOST_IN_A_ROW:
            self._failures_in_a_row = 0
            raise StepStopped(f"{MOST_IN_A_ROW} in a row failed; the rest waits for the next sync.")

    def stop_without_funds(self, error: MarketplaceError) -> None:
        """Raise StepStopped if the requester's account is empty: all later calls that cost money
        would fail as well."""
        if error.says_no_funds:
            raise StepStopped(str(error)) from error

    def hits_in_trouble(self) -> list[str]:
        """The ids of the HITs that have a problem in this run."""
        prefix = hit_name("")
        return [name.removeprefix(prefix) for name in self.problems if name.startswith(prefix)]

    def healthy_first(self, rows: Iterable[Row], name_of: Callable[[Row], str]) -> list[Row]:
        """The rows in their order, but those that failed in earlier syncs at the end."""
        ordered = sorted(rows, key=lambda row: name_of(row) in self.troubled)
        if self.job:
            self.job.expect(len(ordered))
            self._begun = 0
        return ordered

    @property
    def reads_left(self) -> int | None:
        """The number of HITs that this run may still read; None if there is no limit."""
        return None if self.at_most is None else max(0, self.at_most - self.hits_read)

    def first_batch(
        self, rows: Iterable[Row], name_of: Callable[[Row], str], *, most: int | None
    ) -> tuple[list[Row], bool]:
        """At most this many rows, healthy ones first, and whether another run should take the rest.
        Those that failed in earlier syncs wait for the next sync."""
        ordered = self.healthy_first(rows, name_of)
        later = [] if most is None else ordered[most:]
        return ordered[:most], any(name_of(row) not in self.troubled for row in later)
