"""Failures of background work: note, solve, try again, dismiss.

The code that runs the work notes a failure when it stops trying, and solves it when the work
succeeds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from accounts.models import Team
from background.models import Failure, FailureSource
from corpora.errors import DomainError

# Of an error's text; a page shows all of it.
MOST_TEXT = 2000


class FailureOver(DomainError):
    """The failure was solved, tried again or dismissed meanwhile."""


def note_failure(
    *,
    source: FailureSource,
    subject: str,
    title: str,
    error: str,
    at: datetime,
    team: Team | None = None,
    about: Any = None,
    path: str = "",
    arguments: Mapping[str, Any] | None = None,
) -> None:
    """Store a failure, or count it again if one with this subject is open."""
    values = {"error": (error or "No reason was given.")[:MOST_TEXT], "last_at": at}
    same = Failure.objects.open().filter(source=source, subject=subject)
    if same.update(times=F("times") + 1, **values):
        return
    try:
        with transaction.atomic():
            Failure.objects.create(
                source=source,
                subject=subject,
                title=title[:200],
                team=about.team if about else team,
                about=about,
                path=path,
                arguments=dict(arguments or {}),
                first_at=at,
                **values,
            )
    except IntegrityError:
        # Another process has just stored it.
        same.update(times=F("times") + 1, **values)


def solve_failure(*, source: FailureSource, subject: str, at: datetime) -> None:
    """End the open failure with this subject, if there is one, because the work succeeded."""
    Failure.objects.open().filter(source=source, subject=subject).update(ended_at=at)


def end_failure(*, failure: Failure, by: User, at: datetime) -> None:
    """End a failure that somebody dismisses, or whose work they start again. Raises FailureOver."""
    if not Failure.objects.open().filter(pk=failure.pk).update(ended_at=at, ended_by=by):
        raise FailureOver(f"“{failure}” was solved, tried again or dismissed meanwhile.")
