"""Celery tasks of this app. Each is safe to repeat."""

from celery import shared_task

from annotate.site.background import PatientTask, hand_on
from leaderboard.models import Submission
from leaderboard.scoring.queue import score_one


@shared_task(base=PatientTask)
def score_next() -> None:
    """Score one submission, and queue this task again if others wait.

    Celery beat runs this task every minute, for submissions whose task was lost.
    """
    if score_one() and Submission.objects.waiting().exists():
        hand_on(score_next)
