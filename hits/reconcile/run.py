"""What the steps of one sync share, and how one thing that fails is kept from the rest."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import TypeVar

from django.db import Error, InterfaceError, OperationalError
from django.utils import timezone

from annotate.errors import DomainError, one_line
from annotate.models import Campaign
from hits.models import Sync
from hits.mturk.client import Marketplace, MarketplaceError
from hits.mturk.replies import storable

log = logging.getLogger(__name__)

NOTED_EVERY = timedelta(seconds=2)
# After so many failures in a row the cause is not in the HITs or assignments themselves.
MOST_IN_A_ROW = 20
# An unanswered call has been repeated for minutes. One HIT may be the cause; of several, not.
MOST_UNANSWERED = 3

# For how long a repeated token is known again at the marketplace: a day (AWS's documentation), less
# what a run may take.
TOKENS_HOLD = timedelta(hours=22)
# The names of subjects, by which a problem is shown and its subject known again.
HIT_NAME = "HIT {}".format
ASSIGNMENT_NAME = "assignment {}".format
BONUS_NAME = "bonus {0.pk}".format

Row = TypeVar("Row")


class Done(Enum):
    """What a sync seldom does or finds, in words for one and for several."""

    GONE = ("HIT is gone at the marketplace.", "HITs are gone at the marketplace.")
    ADOPTED = (
        "HIT that this database did not know was adopted.",
        "HITs that this database did not know were adopted.",
    )
    CLOSED = (
        "HIT of a campaign that this database does not have was closed.",
        "HITs of campaigns that this database does not have were closed.",
    )
    HELD = ("held payment needs a decision.", "held payments need a decision.")

    def in_words(self, number: int) -> str:
        one, several = self.value
        return f"{number:,} {one if number == 1 else several}"


class StepStopped(DomainError):
    """A step ended early, because too much of what it did failed."""


@dataclass
class Run:
    """One reconciliation of one campaign: whom it talks to, since when, and what it did so far.

    `named` are the HITs that events named, and the only ones to read where `sync.is_whole` is
    false. `troubled` has the subjects that failed in the last run; they are dealt with last, so
    that they hold up nothing else. `pays_for` limits the time that is spent on payments.
    """

    campaign: Campaign
    marketplace: Marketplace
    at: datetime
    sync: Sync
    named: frozenset[str] = frozenset()
    troubled: frozenset[str] = frozenset()
    pays_for: timedelta | None = None
    problems: dict[str, str] = field(default_factory=dict)
    done: Counter[Done] = field(default_factory=Counter)
    is_cut_short: bool = False
    is_complete: bool = False
    _failures_in_a_row: int = 0
    _unanswered: int = 0

    def note_progress(self) -> None:
        """Keep what was done so far, so that pages can show how far this is and that somebody is
        at it; every few seconds, however often it is called."""
        now = timezone.now()
        if now - (self.sync.seen_at or self.at) >= NOTED_EVERY:
            self.sync.seen_at = now
            self.sync.save()

    @contextmanager
    def alone(self, subject: str) -> Iterator[None]:
        """Deal with one HIT, assignment or payment. What goes wrong is noted under its name, and
        the run goes on. Raises StepStopped after too many failures in a row, the error of a
        marketplace that answers nothing, and those of the database's connection."""
        failures = self._failures_in_a_row
        try:
            yield
        except (InterfaceError, OperationalError, StepStopped):
            raise
        except Exception as error:
            self.note_problem(subject, error)
            self._stop_if_hopeless(error)
        else:
            if self._failures_in_a_row == failures:  # also of the parts of this subject
                self._failures_in_a_row = 0

    def note_problem(self, subject: str, error: Exception) -> None:
        """Keep the error under the subject's name, in words for the campaign's page."""
        if isinstance(error, DomainError):
            self.problems[subject] = str(error)
            return
        what = f"{type(error).__name__}: {one_line(error)}"
        self.problems[subject] = storable(f"An unexpected error: {what}")
        # A database's error goes on to name values of its rows, which may be a worker's id.
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
        """Raise StepStopped if the error says that the requester's account is empty, as every
        further call that costs money would say."""
        if error.says_no_funds:
            raise StepStopped(str(error)) from error

    def hits_in_trouble(self) -> list[str]:
        """The ids of HITs of which something could not be read."""
        prefix = HIT_NAME("")
        return [name.removeprefix(prefix) for name in self.problems if name.startswith(prefix)]

    def healthy_first(self, rows: Iterable[Row], name_of: Callable[[Row], str]) -> list[Row]:
        """The rows in their order, but those that failed in the last run at the end."""
        return sorted(rows, key=lambda row: name_of(row) in self.troubled)

    def payments_until(self) -> float:
        """When payments end in this run, by the monotonic clock."""
        if self.pays_for is None:
            return float("inf")
        return time.monotonic() + self.pays_for.total_seconds()
