"""The state that the steps of one sync share, and the handling of their failures."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Protocol, TypeVar

from django.db import Error, InterfaceError, OperationalError
from django.utils import timezone

from annotate.models import Campaign
from corpora.errors import DomainError, one_line
from hits.models import Sync
from hits.mturk.client import Marketplace, MarketplaceError
from hits.mturk.replies import storable
from hits.reconcile.shares import SHARES

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
# Names of subjects. Pages show them with a problem, and the next sync recognises its subject by it.
HIT_NAME = "HIT {}".format
ASSIGNMENT_NAME = "assignment {}".format
BONUS_NAME = "bonus {0.pk}".format
MESSAGE_NAME = "message {0.pk}".format

Row = TypeVar("Row")


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
    HELD = ("held payment needs a decision.", "held payments need a decision.")

    def in_words(self, number: int) -> str:
        one, several = self.value
        return f"{number:,} {one if number == 1 else several}"


class StepStopped(DomainError):
    """A step ended early, because of too many failures or an empty account."""


class Watcher(Protocol):
    """Follows a sync, and can end it: each function may raise an error that is not an Exception."""

    def step(self, name: str) -> None:
        """A step begins."""

    def expect(self, number: int) -> None:
        """The step goes through so many HITs, assignments or payments."""

    def next(self) -> None:
        """One of them begins."""


@dataclass
class Run:
    """The state of one sync of one campaign, which the steps read and update.

    `named` has the HITs that events named. `troubled` has the subjects with problems in earlier
    syncs; they come last, so that they do not delay the others. `pays_for` limits the time that
    payments take. `at_most` limits the number of HITs that are read, and that of payments; what is
    left is done in shares. `shares` are those that this run reads and pays for.
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
    watcher: Watcher | None = None
    problems: dict[str, str] = field(default_factory=dict)
    done: Counter[Done] = field(default_factory=Counter)
    is_cut_short: bool = False
    is_complete: bool = False
    hits_read: int = 0
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
        if self.watcher and begins:
            self.watcher.next()
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
        what = f"{type(error).__name__}: {one_line(error)}"
        self.problems[subject] = storable(f"An unexpected error: {what}")
        # The text of a database error contains values of its rows, perhaps a worker's id.
        traceback = None if isinstance(error, Error) else error
        log.warning("%s, %s: %s", self.campaign, subject, what, exc_info=traceback)

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
        """Return the ids of the HITs that have a problem in this run."""
        prefix = HIT_NAME("")
        return [name.removeprefix(prefix) for name in self.problems if name.startswith(prefix)]

    def healthy_first(self, rows: Iterable[Row], name_of: Callable[[Row], str]) -> list[Row]:
        """Return the rows in their order, but those that failed in earlier syncs at the end."""
        found = sorted(rows, key=lambda row: name_of(row) in self.troubled)
        if self.watcher:
            self.watcher.expect(len(found))
        return found

    @property
    def reads_left(self) -> int | None:
        """The number of HITs that this run may still read; None if there is no limit."""
        return None if self.at_most is None else max(0, self.at_most - self.hits_read)

    def first_batch(
        self, rows: Iterable[Row], name_of: Callable[[Row], str], *, most: int | None
    ) -> tuple[list[Row], bool]:
        """Return at most so many rows, healthy ones first, and whether another run should take the
        rest. Those that failed in earlier syncs wait for the next sync."""
        found = self.healthy_first(rows, name_of)
        rest = [] if most is None else found[most:]
        return found[:most], any(name_of(row) not in self.troubled for row in rest)

    def payments_until(self) -> float:
        """Return the time on the monotonic clock at which payments of this run stop."""
        if self.pays_for is None:
            return float("inf")
        return time.monotonic() + self.pays_for.total_seconds()
