"""Required spot checks, which are drawn regardless of flags.

These are each worker's first responses, a random share of all, and responses that break the
campaign's rules (`qualcontrol.services.held_payments`). If a first response is bad in a campaign
with a trial, the worker's other responses of the trial are drawn, too.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from annotate.models import Campaign, Response
from qualcontrol.models import SpotCheck, Verdict
from qualcontrol.risk.random_sample import random_order


@transaction.atomic(savepoint=False)
def draw_spot_checks(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    at: datetime,
    also: Collection[int] = (),
) -> int:
    """Draw the required checks among these responses: each worker's first ones, the random share,
    and those with keys in `also`. Returns their number.

    A second call with the same responses draws nothing.
    """
    drawn = set(
        SpotCheck.objects.filter(response__in=[response.pk for response in responses]).values_list(
            "response_id", flat=True
        )
    )
    workers = {response.worker_id for response in responses}
    firsts, wanted = _firsts_per_worker(campaign, workers), _wanted_firsts(campaign, workers)
    chosen = []
    for response in sorted(responses, key=lambda response: response.pk):
        if response.pk in drawn:
            continue
        check = spot_check_of(response, campaign=campaign, at=at)
        # A worker's first responses are drawn before their others, so counting these checks shows
        # whether all of them are drawn.
        check.is_first = firsts[response.worker_id] < wanted[response.worker_id]
        firsts[response.worker_id] += check.is_first
        if check.is_first or check.is_random or response.pk in also:
            chosen.append(check)
    SpotCheck.objects.bulk_create(chosen, ignore_conflicts=True)
    return len(chosen)


@transaction.atomic
def draw_rest_of_trial(*, campaign: Campaign, worker: int, at: datetime) -> int:
    """Draw the worker's other responses of the trial, also those that arrive later. Returns the
    number of responses drawn now. The caller holds the worker's lock."""
    missing = campaign.config.review.trial - _firsts_per_worker(campaign, {worker})[worker]
    if missing <= 0:
        return 0
    counting = Response.objects.of(campaign).counting().filter(worker=worker)
    undrawn = list(counting.exclude(spot_check__is_first=True).order_by("pk")[:missing])
    SpotCheck.objects.filter(response__in=undrawn).update(is_first=True)
    checks = [spot_check_of(response, campaign=campaign, at=at) for response in undrawn]
    for check in checks:
        check.is_first = True
    SpotCheck.objects.bulk_create(checks, ignore_conflicts=True)
    return len(undrawn)


def spot_check_of(response: Response, *, campaign: Campaign, at: datetime) -> SpotCheck:
    """An unsaved check of the response. Whether it is in the random sample depends on the
    response's key only, so queue and worker cannot influence it."""
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


def _wanted_firsts(campaign: Campaign, workers: set[int]) -> dict[int, int]:
    """The number of first responses to draw, by worker."""
    review = campaign.config.review
    wanted = dict.fromkeys(workers, review.first)
    if review.trial:
        bad = SpotCheck.objects.of(campaign).filter(is_first=True, verdict=Verdict.BAD)
        of_these = bad.filter(response__worker__in=workers)
        wanted |= dict.fromkeys(of_these.values_list("response__worker", flat=True), review.trial)
    return wanted
