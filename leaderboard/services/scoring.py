"""The states of a submission while it is scored: taken, scored, or failed.

Several processes may do this at the same time. Each takes another submission.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Value
from django.db.models.functions import Concat

from corpora.errors import DomainError
from leaderboard.models import Submission, SubmissionStatus
from shared.database.queues import claim, held

# A run that was killed may have met a passing problem of the machine, so it is repeated once.
MOST_RUNS = 2
# Time beyond the challenge's limit, to load and to store. After it the run counts as dead.
GRACE = timedelta(minutes=2)
# Values of a submission that does not run.
NO_RUN: dict[str, Any] = {"run": None, "slot": None}


class SubmissionRefused(DomainError):
    """The submission cannot be made or changed like this."""


def take(*, at: datetime) -> Submission | None:
    """Start a run of the next submission that waits, and return it.

    None if there is none, or if as many as SCORES_AT_ONCE are running. Runs whose process has died
    are ended first.
    """
    end_dead_runs(at=at)
    # Another process may take a slot first, but each slot only once.
    for _ in range(settings.SCORES_AT_ONCE):
        with suppress(IntegrityError), transaction.atomic():
            return _take(at)
    return None


def _take(at: datetime) -> Submission | None:
    slot = _free_slot()
    if slot is None:
        return None
    return claim(
        Submission.objects.waiting().select_related("challenge__release"),
        lambda submission: {
            "status": SubmissionStatus.RUNNING,
            "due_at": at + timedelta(seconds=submission.challenge.seconds) + GRACE,
            "slot": slot,
            "log": _with_line(f"Run {submission.attempts + 1} started.", at),
        },
    )


def _free_slot() -> int | None:
    used = set(Submission.objects.running().values_list("slot", flat=True))
    slots = range(1, settings.SCORES_AT_ONCE + 1)
    return next((slot for slot in slots if slot not in used), None)


def end_dead_runs(*, at: datetime) -> None:
    """End the runs that have not ended in their time, as if their process had reported it."""
    with transaction.atomic():
        for dead in Submission.objects.dead(at).select_for_update(skip_locked=True):
            _end_run(dead, f"Run {dead.attempts} ended without a result: its process died.", at=at)


@transaction.atomic
def store_scores(*, submission: Submission, scores: dict[str, Any], at: datetime) -> bool:
    """End the run with its scores; return False if the run was given up meanwhile."""
    ended = held(submission).update(
        status=SubmissionStatus.SCORED,
        scores=scores,
        **NO_RUN,
        ended_at=at,
        log=_with_line("Scored.", at),
    )
    return bool(ended)


@transaction.atomic
def store_failure(*, submission: Submission, reason: str, at: datetime) -> bool:
    """End the run without scores: the first one is repeated, after all submissions that wait.

    After the last one the submission has failed, and no longer counts towards the limits. Returns
    False if the run was given up meanwhile.
    """
    locked = held(submission).select_for_update().first()
    if locked is None:
        return False
    _end_run(locked, reason, at=at)
    return True


def _end_run(submission: Submission, reason: str, *, at: datetime) -> None:
    """Queue the submission again, or let it fail. Its row is locked."""
    rows = Submission.objects.filter(pk=submission.pk)
    if submission.attempts < MOST_RUNS:
        rows.update(
            status=SubmissionStatus.WAITING,
            due_at=at,
            **NO_RUN,
            log=_with_line(f"{reason} It will be run again.", at),
        )
        return
    rows.update(
        status=SubmissionStatus.FAILED,
        **NO_RUN,
        try_number=None,
        day_number=None,
        ended_at=at,
        log=_with_line(f"{reason} This submission does not count towards the limits.", at),
    )


def _with_line(text: str, at: datetime) -> Concat:
    return Concat(F("log"), Value(f"{at:%Y-%m-%d %H:%M:%S} {text}\n"))


@transaction.atomic
def score_again(*, submission: Submission, at: datetime) -> None:
    """Queue the failed human baseline once more; raises SubmissionRefused."""
    failed = Submission.objects.filter(
        pk=submission.pk, status=SubmissionStatus.FAILED, is_baseline=True
    )
    queued = failed.update(
        status=SubmissionStatus.WAITING, attempts=0, due_at=at, ended_at=None, log=""
    )
    if not queued:
        raise SubmissionRefused("Only a human baseline whose scoring failed can be scored again.")
