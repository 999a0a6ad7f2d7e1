"""Which responses a reviewer is asked about."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from annotate.models import Campaign, Response
from qualcontrol.models import SpotCheck


@transaction.atomic
def draw_spot_checks(*, campaign: Campaign, responses: Sequence[Response], at: datetime) -> int:
    """Draw each worker's first responses and a seeded share of the rest; how many were drawn.

    A second call with the same responses draws nothing.
    """
    review = campaign.config.review
    drawn = set(
        SpotCheck.objects.filter(response__in=[response.pk for response in responses]).values_list(
            "response_id", flat=True
        )
    )
    checked = _checks_per_worker(campaign, {response.worker_id for response in responses})
    chosen = []
    for response in sorted(responses, key=lambda response: response.pk):
        if response.pk in drawn:
            continue
        # A worker's first responses are drawn before any other of theirs, so the number of
        # checks says whether they are done, and no rank has to be computed.
        if checked[response.worker_id] < review.first or _is_in_share(
            campaign.config.seed, response.pk, review.share
        ):
            chosen.append(SpotCheck(response=response, drawn_at=at))
            checked[response.worker_id] += 1
    SpotCheck.objects.bulk_create(chosen, ignore_conflicts=True)
    return len(chosen)


def _checks_per_worker(campaign: Campaign, workers: set[int]) -> Counter[int]:
    return Counter(
        SpotCheck.objects.of(campaign)
        .filter(response__worker__in=workers)
        .values_list("response__worker_id", flat=True)
    )


def _is_in_share(seed: int, response_pk: int, share: float) -> bool:
    """The same answer for the same response, whenever and however often it is asked."""
    return random.Random(f"{seed}:{response_pk}").random() < share
