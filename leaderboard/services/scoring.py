"""Score what waits, each submission in its own process with limits of time and memory.

Several processes may do this at the same time. Each takes another submission, and starts the
scoring process (`leaderboard.scoring`), which gets references and captions on its standard input
and prints means. That process has no access to the database and to the site's keys, and its own
messages are not read: they may quote captions.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.utils import timezone

from corpora.errors import DomainError
from corpora.wording import counted
from leaderboard.models import Submission, SubmissionStatus
from leaderboard.queries import job_of
from shared.database.locks import transaction_lock
from shared.database.queues import claim, held

log = logging.getLogger(__name__)

# A run that was killed may have met a passing problem of the machine, so it is repeated once.
MOST_RUNS = 2
# Time beyond the challenge's limit, to load and to store. After it the run counts as dead.
GRACE = timedelta(minutes=2)


class SubmissionRefused(DomainError):
    """The submission cannot be made or changed like this."""


def score_waiting() -> Iterator[Submission]:
    """Score one submission after the other until none is due; yield each afterwards."""
    while (submission := take(at=timezone.now())) is not None:
        score(submission)
        submission.refresh_from_db()
        yield submission


def score(submission: Submission) -> None:
    """Score a submission that was taken, and store the result of this run."""
    challenge = submission.challenge
    limits = Limits(challenge.seconds, challenge.megabytes)
    outcome = run(job_of(submission), limits, is_wanted=held(submission).exists)
    if outcome.problem:
        if store_failure(submission=submission, reason=outcome.problem, at=timezone.now()):
            log.warning(
                "Submission %s, run %s: %s", submission.pk, submission.attempts, outcome.problem
            )
    else:
        store_scores(submission=submission, scores=outcome.scores, at=timezone.now())


def take(*, at: datetime) -> Submission | None:
    """Start a run of the next submission that waits, and return it.

    None if there is none, or if as many as SCORES_AT_ONCE are running. Runs whose process has died
    are ended first.
    """
    end_dead_runs(at=at)
    waiting = Submission.objects.waiting().select_related("challenge__release")
    if not waiting.exists():  # Without a lock, for which others would wait.
        return None
    with transaction.atomic():
        transaction_lock("scoring")
        if Submission.objects.running().count() >= settings.SCORES_AT_ONCE:
            return None
        return claim(
            waiting,
            lambda submission: {
                "status": SubmissionStatus.RUNNING,
                "due_at": at + timedelta(seconds=submission.challenge.seconds) + GRACE,
                "log": _with_line(f"Run {submission.attempts + 1} started.", at),
            },
        )


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
        run=None,
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
            run=None,
            log=_with_line(f"{reason} It will be run again.", at),
        )
        return
    rows.update(
        status=SubmissionStatus.FAILED,
        run=None,
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


# The scoring process


ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "leaderboard.scoring")
# The environment of the process. Everything else, such as keys, stays here.
PASSED_ON = ("PATH", "JAVA_HOME", "LANG", "LC_ALL", "TMPDIR", "SPICE_MODELS")
MOST_OUTPUT = 1_000_000
# Seconds between two looks whether a run is still wanted. It may have been withdrawn.
PAUSE = 1


@dataclass(frozen=True)
class Limits:
    """The most that one scoring may use: seconds, and megabytes of each of its processes."""

    seconds: int
    megabytes: int


@dataclass(frozen=True)
class Outcome:
    """The scores, or the reason in words why there are none."""

    scores: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def run(
    job: Mapping[str, Any], limits: Limits, *, is_wanted: Callable[[], bool] = lambda: True
) -> Outcome:
    """Score the job (see `leaderboard.scoring.scored`) within the limits, without raising for what
    it does. The process is stopped soon after `is_wanted` says no.
    """
    try:
        # Files, because a pipe that nobody reads would stop the process or this one.
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as printed:
            given.write(json.dumps(job).encode())
            given.seek(0)
            status = _status_of(given, printed, limits, is_wanted)
            printed.seek(0)
            return _outcome(status, printed.read(MOST_OUTPUT), limits)
    except OSError as error:
        return Outcome(problem=f"The scoring process could not be run: {error.strerror}.")


def _status_of(
    given: IO[bytes], printed: IO[bytes], limits: Limits, is_wanted: Callable[[], bool]
) -> int | None:
    """The exit status of the process; None if it did not end in time, or was stopped."""
    process = subprocess.Popen(
        [*COMMAND, str(limits.seconds), str(limits.megabytes)],
        stdin=given,
        stdout=printed,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        # Its own group, so that the programs that it starts can be killed with it.
        process_group=0,
    )
    end = time.monotonic() + limits.seconds
    try:
        while is_wanted() and (left := end - time.monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(timeout=min(left, PAUSE))
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _outcome(status: int | None, printed: bytes, limits: Limits) -> Outcome:
    out_of_time = f"Scoring did not end within {counted(limits.seconds, 'second')}."
    if status is None or status in {-signal.SIGXCPU, -signal.SIGALRM}:
        return Outcome(problem=out_of_time)
    if status < 0:
        return Outcome(
            problem=f"The scoring process was killed by signal {-status}, perhaps because the "
            "machine had no memory left."
        )
    with suppress(ValueError):
        answer = json.loads(printed)
        if "scores" in answer:
            return Outcome(scores=answer["scores"])
        if "problem" in answer:
            return Outcome(problem=answer["problem"])
    return Outcome(problem=f"The scoring process ended with status {status} and without scores.")
