"""What a campaign's policy does about a worker, by itself or as a proposal.

Flags alone lead to nothing, and neither does a single slip: whoever is paused, proposed or
excluded has several responses that a person judged bad, and more of them than when a person last
let the worker go on.
"""

from datetime import datetime

from django.db.models import F, QuerySet

from annotate.models import Campaign
from qualcontrol.models import Pause, Standing
from qualcontrol.risk import LEAST_BAD_VERDICTS
from qualcontrol.services.errors import AlreadyExcluded, AlreadyPaused, NotPaused
from qualcontrol.services.exclusions import (
    exclude_worker,
    let_go_on,
    pause_worker,
    propose_exclusion,
)


def decide(*, campaign: Campaign, at: datetime) -> int:
    """Exclude, propose or pause whom the figures say to, and end pauses that they no longer say;
    how many acts that were. Done again, it changes nothing."""
    review = campaign.config.review
    suspects = suspicious(campaign).select_related("worker")
    over = suspects.filter(risk__gte=review.certainty)
    acts = sum(_exclude(campaign, standing, at) for standing in over.order_by("worker"))
    if review.pause_certainty < 1:
        acts += _move_pauses(campaign, suspects.filter(risk__gte=review.pause_certainty), at)
    return acts


def suspicious(campaign: Campaign) -> QuerySet[Standing]:
    """Workers whom the policy may act against: not excluded, with enough and new bad verdicts."""
    excluded = campaign.exclusions.in_force().values("worker")
    standings = Standing.objects.of(campaign).exclude(worker__in=excluded)
    return standings.filter(bad__gte=LEAST_BAD_VERDICTS, bad__gt=F("forgiven"))


def _exclude(campaign: Campaign, standing: Standing, at: datetime) -> bool:
    worker, reason = standing.worker, why(campaign, standing)
    try:
        if campaign.config.review.policy == "propose":
            return propose_exclusion(campaign=campaign, worker=worker, reason=reason, at=at)
        exclude_worker(campaign=campaign, worker=worker, reason=reason, actor=None, at=at)
    except AlreadyExcluded:  # By somebody else, at this moment.
        return False
    return True


def _move_pauses(campaign: Campaign, doubtful: QuerySet[Standing], at: datetime) -> int:
    """Pause the doubtful who are not, and let go on those whom the policy paused and who are not
    doubtful any more."""
    in_force = campaign.pauses.in_force()
    new = doubtful.exclude(worker__in=in_force.values("worker")).order_by("worker")
    past = in_force.filter(is_by_policy=True).exclude(worker__in=doubtful.values("worker"))
    paused = [_pause(campaign, standing, at) for standing in new]
    return sum(paused) + sum(_let_go_on(campaign, pause, at) for pause in past)


def _pause(campaign: Campaign, standing: Standing, at: datetime) -> bool:
    try:
        pause_worker(
            campaign=campaign,
            worker=standing.worker,
            reason=why(campaign, standing),
            actor=None,
            at=at,
        )
    except (AlreadyPaused, AlreadyExcluded):  # By somebody else, at this moment.
        return False
    return True


def _let_go_on(campaign: Campaign, pause: Pause, at: datetime) -> bool:
    reason = "later verdicts and flags make it less probable that they are over the limit"
    try:
        let_go_on(campaign=campaign, worker=pause.worker, reason=reason, actor=None, at=at)
    except NotPaused:  # Ended by somebody else, at this moment.
        return False
    return True


def why(campaign: Campaign, standing: Standing) -> str:
    """The reason for an act against a worker, in a sentence."""
    checked = standing.good + standing.bad
    return (
        f"{standing.bad} of {checked} judged responses were bad; with {_percent(standing.risk)} "
        f"probability more than {_percent(campaign.config.review.limit)} of all of theirs are"
    )


def _percent(probability: float) -> str:
    """Never rounded to a certainty that there is not."""
    return "over 99 %" if probability > 0.99 else f"{probability:.0%}".replace("%", " %")
