"""The loop that scores what waits."""

import logging
from collections.abc import Iterator

from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.queries.images import job_of
from leaderboard.scoring.process import Limits, run
from leaderboard.services.scoring import store_failure, store_scores, take

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
    outcome = run(job_of(submission), Limits(challenge.seconds, challenge.megabytes))
    if outcome.problem:
        log.warning(
            "Submission %s, run %s: %s", submission.pk, submission.attempts, outcome.problem
        )
        store_failure(submission=submission, reason=outcome.problem, at=timezone.now())
    else:
        store_scores(submission=submission, scores=outcome.scores, at=timezone.now())
