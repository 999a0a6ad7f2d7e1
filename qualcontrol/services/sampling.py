"""The floor of spot checks: responses that are drawn whatever their flags say."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from annotate.models import Campaign, Response
from qualcontrol.floor import random_order
from qualcontrol.models import SpotCheck


@transaction.atomic
def draw_spot_checks(*, campaign: Campaign, responses: Sequence[Response], at: datetime) -> int:
    """Draw each worker's first responses and a seeded share of all; how many were drawn.

    A second call with the same responses draws nothing.
    """
    drawn = set(
        SpotCheck.objects.filter(response__in=[response.pk for response in responses]).values_list(
            "response_id", flat=True
        )
    )
    firsts = _firsts_per_worker(campaign, {response.worker_id for response in responses})
    chosen = []
    for response in sorted(responses, key=lambda response: response.pk):
        if response.pk in drawn:
            continue
        check = spot_check_of(response, campaign=campaign, at=at)
        # A worker's first responses are drawn before any other of theirs, so the number of such
        # checks says whether they are done, and no rank has to be computed.
        check.is_first = firsts[response.worker_id] < campaign.config.review.first
        firsts[response.worker_id] += check.is_first
        if check.is_first or check.is_random:
            chosen.append(check)
    SpotCheck.objects.bulk_create(chosen, ignore_conflicts=True)
    return len(chosen)


def spot_check_of(response: Response, *, campaign: Campaign, at: datetime) -> SpotCheck:
    """A check of the response, not saved yet. Whether it is in the random sample depends on its
    key alone, and so on nothing that a queue or a worker could know."""
    draw = random_order(campaign.config.seed, response.pk)
    return SpotCheck(
        campaign=campaign,
        response=response,
        draw=draw,
        is_random=draw < campaign.config.review.share,
        drawn_at=at,
    )


def _firsts_per_worker(campaign: Campaign, workers: set[int]) -> Counter[int]:
    firsts = SpotCheck.objects.filter(
        campaign=campaign, is_first=True, response__worker__in=workers
    )
    return Counter(firsts.values_list("response__worker_id", flat=True))
