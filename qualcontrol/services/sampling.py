"""Required spot checks, which are drawn regardless of flags.

These are each worker's first responses, a random share of all, and responses that break the
campaign's rules (`qualcontrol.services.held_payments`). If a first response is bad in a campaign
with a trial, the worker's other responses of the trial are drawn, too.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from annotate.models import Campaign, CampaignStatus, Response, ResponseStatus
from qualcontrol.flags import BREAKS_RULES
from qualcontrol.models import Assessment, SpotCheck, Verdict
from qualcontrol.risk.estimate import random_order
from shared.database.locks import transaction_lock


@transaction.atomic(savepoint=False)
def draw_spot_checks(
    *,
    campaign: Campaign,
    responses: Sequence[Response],
    at: datetime,
    also: Collection[int] = (),
) -> None:
    """Draw the required checks among these responses: each worker's first ones, the random share,
    and those with keys in `also`.

    A second call with the same responses draws nothing.
    """
    drawn = set(
        SpotCheck.objects.filter(response__in=[response.pk for response in responses]).values_list(
            "response_id", flat=True
        )
    )
    workers = {response.worker_id for response in responses}
    firsts, wanted = _firsts_per_worker(campaign, workers), wanted_firsts(campaign, workers)
    share = locked_check_share(campaign)
    chosen = []
    for response in sorted(responses, key=lambda response: response.pk):
        if response.pk in drawn:
            continue
        check = spot_check_of(response, campaign=campaign, share=share, at=at)
        # A worker's first responses are drawn before their others, so counting these checks shows
        # whether all of them are drawn.
        check.is_first = firsts[response.worker_id] < wanted[response.worker_id]
        firsts[response.worker_id] += check.is_first
        if check.is_first or check.is_random or response.pk in also:
            chosen.append(check)
    SpotCheck.objects.bulk_create(chosen, ignore_conflicts=True)


def draw_for_restored(*, campaign: Campaign, responses: Collection[Response], at: datetime) -> None:
    """Draw the missing checks of restored responses: an excluded worker's responses are not drawn
    when they arrive, a raised share leaves out discarded ones, and so does a trial that a bad
    verdict has made longer meanwhile. The caller has called `lock_check_share`."""
    for worker in sorted({response.worker_id for response in responses}):
        # Before the others are drawn, because some have a check that is not of a first response.
        draw_missing_firsts(campaign=campaign, worker=worker, at=at)
    assessments = Assessment.objects.filter(response__in=[response.pk for response in responses])
    codes = dict(assessments.values_list("pk", "codes"))
    breaking = {response for response, flags in codes.items() if BREAKS_RULES in flags.split()}
    draw_spot_checks(campaign=campaign, responses=[*responses], at=at, also=breaking)


@transaction.atomic
def draw_missing_firsts(*, campaign: Campaign, worker: int, at: datetime) -> None:
    """Draw the worker's next responses as first ones if some are missing: after a bad one, all of
    the trial are judged, and one that is discarded without a verdict is replaced. Later responses
    are drawn when they arrive. The caller holds the worker's lock."""
    missing = wanted_firsts(campaign, {worker})[worker]
    missing -= _firsts_per_worker(campaign, {worker})[worker]
    if missing <= 0:
        return
    undrawn = list(without_first(campaign).filter(worker=worker).order_by("pk")[:missing])
    SpotCheck.objects.filter(response__in=undrawn).update(is_first=True)
    share = locked_check_share(campaign)
    checks = [
        spot_check_of(response, campaign=campaign, share=share, at=at) for response in undrawn
    ]
    for check in checks:
        check.is_first = True
    SpotCheck.objects.bulk_create(checks, ignore_conflicts=True)
    if undrawn and campaign.config.review.trial:
        # One that is bad makes the trial longer.
        draw_missing_firsts(campaign=campaign, worker=worker, at=at)


def without_first(campaign: Campaign) -> QuerySet[Response]:
    """The responses that can be drawn as first ones. One that an optional check found bad does not
    count, but belongs to the trial."""
    theirs = Response.objects.of(campaign).filter(
        Q(status=ResponseStatus.SUBMITTED) | Q(spot_check__verdict=Verdict.BAD)
    )
    return theirs.exclude(spot_check__is_first=True)


def drop_rest_of_trial(*, campaign: Campaign, worker: int) -> None:
    """If none of the worker's first responses is bad now, drop the checks of the trial's other
    responses, except those that somebody has begun or that are required for another reason. The
    caller holds the worker's lock and has called `lock_check_share`."""
    firsts = firsts_of(campaign).filter(response__worker=worker)
    if not campaign.config.review.trial or firsts.filter(verdict=Verdict.BAD).exists():
        return
    keys = list(firsts.order_by("response").values_list("pk", flat=True))
    rest = SpotCheck.objects.filter(
        pk__in=keys[campaign.config.review.first :], verdict="", judgements=None
    )
    optional = rest.filter(is_random=False)
    optional.exclude(response__assessment__codes__contains=BREAKS_RULES).delete()
    rest.update(is_first=False)


def is_surplus_first(check: SpotCheck, *, campaign: Campaign, worker: int) -> bool:
    """Whether the worker has enough first responses before this one: the draft wants fewer now, or
    the trial has ended. The caller holds the worker's lock and has called `lock_check_share`."""
    firsts = firsts_of(campaign).filter(response__worker=worker).order_by("response")
    wanted = wanted_firsts(campaign, {worker})[worker]
    return check.pk in list(firsts.values_list("pk", flat=True))[wanted:]


def lock_check_share(campaign: Campaign) -> None:
    """Keep the share of the random sample unchanged until the transaction ends; `locked_sample`
    waits. So a raise of the share finds every response that was stored by the smaller one. The file
    of a draft is kept, too: `campaign` has it as it is now, if it was edited since it was read.

    A transaction that draws checks, or may delete one, calls this after it has locked the workers,
    and before it locks tasks or changes checks. Otherwise it could deadlock with the transaction
    that raises the share, which also changes checks.
    """
    transaction_lock(_lock_of(campaign), is_shared=True)
    if campaign.status == CampaignStatus.DRAFT:
        campaign.refresh_from_db(fields=["config_json"])
        vars(campaign).pop("config", None)  # the parsed one


def locked_check_share(campaign: Campaign) -> float:
    """The share of the random sample as it is until the transaction ends (`lock_check_share`)."""
    lock_check_share(campaign)
    shares = Campaign.objects.values_list("config_json__review__share", flat=True)
    return float(shares.get(pk=campaign.pk))


def locked_sample(campaign: Campaign) -> None:
    """Wait for all transactions that draw checks by the present share. Later ones wait for this
    transaction, and draw by the share that it has stored."""
    transaction_lock(_lock_of(campaign))


def _lock_of(campaign: Campaign) -> str:
    return f"sample-{campaign.pk}"


def spot_check_of(
    response: Response, *, campaign: Campaign, share: float, at: datetime
) -> SpotCheck:
    """An unsaved check of the response, by the `locked_check_share`. Whether it is in the random
    sample depends on the response's key only, so queue and worker cannot influence it."""
    draw = random_order(campaign.config.seed, response.pk)
    return SpotCheck(
        campaign=campaign,
        response=response,
        draw=draw,
        is_random=draw < share,
        drawn_at=at,
    )


def firsts_of(campaign: Campaign) -> QuerySet[SpotCheck]:
    """The checks of workers' first responses. A first response that was discarded without a
    verdict, for example withdrawn, is replaced by the worker's next one."""
    firsts = SpotCheck.objects.of(campaign).filter(is_first=True)
    return firsts.exclude(verdict="", response__status=ResponseStatus.DISCARDED)


def _firsts_per_worker(campaign: Campaign, workers: set[int]) -> Counter[int]:
    firsts = firsts_of(campaign).filter(response__worker__in=workers)
    return Counter(firsts.values_list("response__worker_id", flat=True))


def wanted_firsts(campaign: Campaign, workers: set[int]) -> dict[int, int]:
    """The number of first responses to draw, by worker."""
    review = campaign.config.review
    wanted = dict.fromkeys(workers, review.first)
    if review.trial:
        bad = SpotCheck.objects.of(campaign).filter(is_first=True, verdict=Verdict.BAD)
        of_these = bad.filter(response__worker__in=workers)
        wanted |= dict.fromkeys(of_these.values_list("response__worker", flat=True), review.trial)
    return wanted
