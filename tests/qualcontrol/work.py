"""Helpers that create ingested responses and verdicts."""

import random

from django.db import transaction

from annotate.models import Campaign, Response, Worker
from annotate.services.responses import lock_tasks
from qualcontrol.models import Gold
from qualcontrol.queries.workers import worker_summaries
from qualcontrol.review import judging
from qualcontrol.services.exclusions import exclude_worker, pause_worker, propose_exclusion
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.locks import lock_workers
from qualcontrol.services.worker_risks import refresh_worker_risks
from tests.factories import NOON, ResponseFactory, TaskFactory

NO_REQUIRED_CHECKS = {"first": 0, "share": 0}
LISTS = "lists of keywords"
NOUNS = """dog ball field boat river horse bridge child kitchen train window tree street market
hat guitar plate snow beach tower lamp garden bicycle sheep mirror cake piano kite ladder clock"""


def sentence(number: int) -> str:
    """A sentence that is unlike that of any other number."""
    words = random.Random(number).sample(NOUNS.split(), 5)
    return "A {} and a {} are near the {} with a {} and a {}.".format(*words)


def write(campaign: Campaign, worker: Worker, count: int = 1, **values) -> list[Response]:
    """Create submitted responses of a worker, each to another task.

    The sentences are the same in each campaign.
    """
    first = campaign.tasks.count()
    responses = [
        ResponseFactory(
            task=TaskFactory(campaign=campaign),
            worker=worker,
            **{"text": sentence(first + number), **values},
        )
        for number in range(count)
    ]
    review_late(*responses)
    return responses


@transaction.atomic
def review_late(*responses: Response) -> None:
    """Let quality control review stored responses of one campaign, under the locks that an ingest
    holds."""
    lock_workers({response.worker_id for response in responses})
    lock_tasks({response.task_id for response in responses})
    review_submitted(campaign=responses[0].campaign, responses=responses, at=NOON)


def judge(response: Response, verdict: str, reviewer=None, at=NOON) -> None:
    judging.judge(
        response=response,
        verdict=verdict,
        reason="vague" if verdict == "BAD" else "",
        reviewer=reviewer,
        at=at,
    )


def worker_risk_of(campaign: Campaign, worker: Worker):
    """The worker's risk, refreshed."""
    refresh_worker_risks(campaign=campaign)
    return campaign.worker_risks.get(worker=worker)


def state_of(campaign: Campaign, worker: Worker) -> str:
    return worker_summaries(campaign, [worker.pk])[0].state


def key_of(subject: Response | Gold) -> str:
    """The key of a response, or of a made-up caption, on the review page."""
    return str(subject.key)


def exclude(campaign: Campaign, worker: Worker) -> None:
    exclude_worker(campaign=campaign, worker=worker, reason=LISTS, actor=None, at=NOON)


def pause(campaign: Campaign, worker: Worker) -> None:
    pause_worker(campaign=campaign, worker=worker, reason=LISTS, actor=None, at=NOON)


def propose(campaign: Campaign, worker: Worker) -> None:
    propose_exclusion(campaign=campaign, worker=worker, reason=LISTS, at=NOON)
