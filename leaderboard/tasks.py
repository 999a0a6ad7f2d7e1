"""Celery tasks of this app. Each is safe to repeat."""

from celery import shared_task

from background.tasks import PatientTask, pass_on
from leaderboard.models import Submission
from leaderboard.services.scoring import score_waiting


@shared_task(base=PatientTask)
def score_next() -> None:
    """Score one submission, and let another task score those that wait, behind what else does."""
    for _ in score_waiting():
        if not Submission.objects.waiting().exists() or pass_on(score_next):
            return


def ask_for_scores() -> None:
    """Let a Celery worker score what waits; without a broker, the clock does."""
    pass_on(score_next)
