"""Score what waits, each submission in a process of its own with limits of time and memory.

The process gets references and captions on its standard input and prints means. It has no access to
the database and to the site's keys, and its own messages are not read: they may quote captions.
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
from pathlib import Path
from typing import IO, Any

from django.utils import timezone

from corpora.wording import counted
from leaderboard.models import Submission
from leaderboard.queries import job_of
from leaderboard.services.scoring import store_failure, store_scores, take
from shared.database.queues import held

log = logging.getLogger(__name__)


def score_waiting() -> Iterator[Submission]:
    """Score one submission after the other until none is due; yield each afterwards."""
    while (submission := score_one()) is not None:
        yield submission


def score_one() -> Submission | None:
    """Score the next submission that is due, and return it; None if there is none."""
    submission = take(at=timezone.now())
    if submission is not None:
        score(submission)
        submission.refresh_from_db()
    return submission


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


ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "leaderboard.scoring.child")
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
    """Score the job (see `child.scored`) within the limits. Never raises for what a job does.

    The process is stopped soon after `is_wanted` says no.
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
        # A group of its own, so that the programs that it starts can be killed with it.
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
