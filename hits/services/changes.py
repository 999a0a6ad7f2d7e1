"""Change a published campaign: its budget, the reward of new HITs, and the share of spot checks.

Each change is decided on under the campaign's lock, which the reconciler takes to plan HITs, and is
written to the decision log in the same transaction.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from pydantic import ValidationError

from annotate.campaign_file import CampaignConfig
from annotate.models import Campaign, CampaignStatus, Response
from corpora.errors import DomainError
from hits.models import HitType
from hits.services.lifecycle import CannotMove, ChangedMeanwhile, add_to_budget, log_change
from qualcontrol.models import Act, SpotCheck
from qualcontrol.services.sampling import draw_spot_checks, locked_sample

# Responses that are looked at together for the larger random sample.
AT_ONCE = 1000


class BadChange(DomainError):
    """The new value is not possible."""


@transaction.atomic
def raise_budget(
    *,
    campaign: Campaign,
    amount: Decimal,
    seen: Decimal,
    reason: str,
    actor: User,
    at: datetime,
) -> Campaign:
    """Add an amount in dollars to the budget; the next sync creates HITs for it.

    `seen` is the budget that the person saw, so that a form posted twice adds once. Raises
    CannotMove for a finished campaign, ChangedMeanwhile, and BadAmount.
    """
    locked = _unfinished(campaign)
    before = locked.budget
    if before != seen:
        raise ChangedMeanwhile(f"The budget was already changed to ${before:,.2f} meanwhile.")
    add_to_budget(campaign=locked, amount=amount, reason=reason, actor=actor, at=at)
    return locked


@transaction.atomic
def change_reward(
    *,
    campaign: Campaign,
    reward: Decimal,
    seen: Decimal,
    reason: str,
    actor: User,
    at: datetime,
) -> Campaign:
    """Set the reward of new HITs. The next syncs replace the HITs that nobody has taken.

    `seen` is the reward that the person saw. Accepted assignments keep the reward at which they
    were accepted. Raises CannotMove, ChangedMeanwhile or BadChange.
    """
    locked = _unfinished(campaign)
    before = locked.config.hit.reward
    if before != seen:
        raise ChangedMeanwhile(f"The reward was already changed to ${before} meanwhile.")
    if not reward.is_finite() or reward == before:
        raise BadChange(f"The reward is ${before} already. Enter another amount.")
    # Until now, a type without a known reward had the campaign's.
    HitType.objects.filter(campaign=locked, reward=None).update(reward=before)
    changed = _with_file(locked, lambda file: file["hit"].update(reward=str(reward)))
    after = changed.config.hit.reward
    _log(changed, Act.REWARD, f"${before} to ${after}", reason, actor, at)
    return changed


@transaction.atomic
def raise_review_share(
    *,
    campaign: Campaign,
    share: float,
    seen: float,
    reason: str,
    actor: User,
    at: datetime,
) -> Campaign:
    """Raise the share of the random sample, and draw the checks that it adds.

    The order of the sample depends on the seed only, so it stays a random sample of all responses.
    Raises CannotMove, ChangedMeanwhile or BadChange.
    """
    locked = _unfinished(campaign)
    before = locked.config.review.share
    if before != seen:
        raise ChangedMeanwhile(f"The share was already changed to {before * 100:g}% meanwhile.")
    if not before < share <= 1:
        raise BadChange(
            f"The share can only be raised: enter more than {before * 100:g}%, and at most 100%."
        )
    locked_sample(locked)
    changed = _with_file(locked, lambda file: file["review"].update(share=share))
    drawn = SpotCheck.objects.filter(campaign=changed, is_random=False, draw__lt=share)
    drawn.update(is_random=True)
    _draw_missing(changed, at)
    _log(changed, Act.SHARE, f"{before * 100:g}% to {share * 100:g}%", reason, actor, at)
    return changed


def _draw_missing(campaign: Campaign, at: datetime) -> None:
    counting = Response.objects.of(campaign).counting().filter(spot_check=None).order_by("pk")
    last = 0
    while found := list(counting.filter(pk__gt=last)[:AT_ONCE]):
        draw_spot_checks(campaign=campaign, responses=found, at=at)
        last = found[-1].pk


def _unfinished(campaign: Campaign) -> Campaign:
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if locked.status == CampaignStatus.FINISHED:
        raise CannotMove(f"{locked} is finished and cannot be changed any more.")
    return locked


def _with_file(campaign: Campaign, change: Callable[[dict[str, Any]], None]) -> Campaign:
    """Store a change of the campaign's file; return the campaign with it. Raises BadChange."""
    change(campaign.config_json)
    try:
        config = CampaignConfig.model_validate(campaign.config_json)
    except ValidationError as error:
        raise BadChange("This value is not possible in a campaign file.") from error
    campaign.config_json = config.model_dump(mode="json")
    campaign.save(update_fields=["config_json"])
    return Campaign.objects.get(pk=campaign.pk)  # without the cached file


def _log(campaign: Campaign, act: Act, change: str, reason: str, actor: User, at: datetime) -> None:
    text = f"From {change}. {reason.strip()}"
    log_change(campaign=campaign, act=act, reason=text, actor=actor, at=at)
