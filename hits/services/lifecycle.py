"""Publish, pause and finish campaigns, and add to their budgets.

Each change is written to the decision log in its transaction. `actor` is None for a command.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from annotate.errors import DomainError
from annotate.jobs.requests import request_job
from annotate.models import Campaign, CampaignStatus, Job
from annotate.wording import counted
from hits.mturk.client import marketplace_of
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate, slot_cost
from hits.services.syncs import PUBLISH
from qualcontrol.models import Act, Decision, HeldPayment

PUBLISHABLE = {CampaignStatus.DRAFT: Act.PUBLISH, CampaignStatus.PAUSED: Act.CONTINUE}
# The largest budget in dollars: eight digits before the point.
MOST_BUDGET = Decimal(10**8 - 1)


class NotConfirmed(DomainError):
    """Publishing spends real money and was not confirmed."""


class CannotMove(DomainError):
    """The campaign's status, funds or held payments do not allow the change."""


class BadAmount(DomainError):
    """The amount cannot be added to the budget."""


def publish(
    *, campaign: Campaign, actor: User | None, at: datetime, confirmed: bool = False
) -> None:
    """Set a draft or paused campaign to running, so that the next sync creates its HITs.

    Raises NotConfirmed, which states the cost, if the marketplace spends real money and the caller
    has not `confirmed`; CannotMove, WrongEndpoint or MarketplaceError.
    """
    _check_publication(campaign, confirmed)
    if marketplace_of(campaign).balance() < slot_cost(campaign):
        raise CannotMove(
            "The marketplace account's balance does not cover one assignment. Add funds there "
            "first."
        )
    _move(campaign, PUBLISHABLE, CampaignStatus.RUNNING, actor, at)


def ask_to_publish(
    *, campaign: Campaign, actor: User | None, at: datetime, confirmed: bool = False
) -> Job:
    """Request the job that publishes the campaign and creates its HITs, and return it.

    Raises what `publish` raises, as far as it can be known without asking the marketplace, and
    JobRefused.
    """
    _check_publication(campaign, confirmed)
    marketplace_of(campaign)
    if campaign.status not in PUBLISHABLE:
        raise _cannot_become(campaign, campaign.status, CampaignStatus.RUNNING)
    arguments = {"confirmed": confirmed, "status": campaign.status}
    return request_job(kind=PUBLISH, arguments=arguments, user=actor, at=at, campaign=campaign)


def _check_publication(campaign: Campaign, confirmed: bool) -> None:
    cost = estimate(campaign)
    if endpoint_of(campaign.endpoint).spends_money and not confirmed:
        raise NotConfirmed(
            f"{campaign} uses the production marketplace and costs about ${cost.total} "
            f"(budget ${campaign.budget}). Confirm that you want to spend real money."
        )
    if campaign.budget < slot_cost(campaign):
        raise CannotMove(
            f"The budget of ${campaign.budget} does not cover one assignment "
            f"(${slot_cost(campaign)} with fee). "
            "Add to it with `add_to_budget`."
        )


def pause(*, campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Set a running campaign to paused. Raises CannotMove.

    The next sync closes its HITs to new workers. Workers who have accepted one may finish it and
    are paid.
    """
    _move(campaign, {CampaignStatus.RUNNING: Act.HALT}, CampaignStatus.PAUSED, actor, at)


def finish(*, campaign: Campaign, actor: User | None, at: datetime) -> None:
    """Set a running or paused campaign to finished: no more HITs, but submissions are settled.

    Raises CannotMove, also if the campaign has held payments, because nobody may look at it again.
    A payment that is held after this call is shown on the campaign's page.
    """
    if number := HeldPayment.objects.of(campaign).open().count():
        raise CannotMove(
            counted(
                number,
                "held payment needs a decision first.",
                "held payments need a decision first.",
            )
        )
    acts = {CampaignStatus.RUNNING: Act.FINISH, CampaignStatus.PAUSED: Act.FINISH}
    _move(campaign, acts, CampaignStatus.FINISHED, actor, at)


@transaction.atomic
def add_to_budget(
    *, campaign: Campaign, amount: Decimal, actor: User | None, at: datetime, reason: str = ""
) -> None:
    """Add an amount in dollars to the budget; the next sync creates HITs for it. Raises CannotMove
    for a finished campaign, and BadAmount."""
    is_possible = amount.is_finite() and 0 < amount <= MOST_BUDGET
    if not (is_possible and amount == round(amount, 2)):
        raise BadAmount(f"The amount must be more than $0 and at most ${MOST_BUDGET:,}, in cents.")
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    before = locked.budget
    if locked.status == CampaignStatus.FINISHED:
        raise CannotMove(f"{campaign} is finished and spends nothing more.")
    if before + amount > MOST_BUDGET:
        raise BadAmount(f"A budget can be at most ${MOST_BUDGET:,}.")
    campaign.budget = before + amount
    campaign.save(update_fields=["budget"])
    change = f"From ${before:,.2f} to ${campaign.budget:,.2f}. {reason.strip()}"
    log_change(campaign=campaign, act=Act.BUDGET, reason=change, actor=actor, at=at)


def log_change(
    *, campaign: Campaign, act: Act, reason: str, actor: User | None, at: datetime
) -> None:
    """Add an entry about the campaign as a whole to the decision log."""
    Decision.objects.create(
        campaign=campaign, act=act, reason=reason.strip()[:1024], actor=actor, at=at
    )


@transaction.atomic
def _move(
    campaign: Campaign,
    acts: Mapping[CampaignStatus, Act],
    new: CampaignStatus,
    actor: User | None,
    at: datetime,
) -> None:
    """Change the status, and log the act that `acts` names for the current one."""
    current = CampaignStatus(Campaign.objects.select_for_update().get(pk=campaign.pk).status)
    if current not in acts:
        raise _cannot_become(campaign, current, new)
    Campaign.objects.filter(pk=campaign.pk).update(status=new)
    log_change(campaign=campaign, act=acts[current], reason="", actor=actor, at=at)
    campaign.status = new


def _cannot_become(campaign: Campaign, current: str, new: CampaignStatus) -> CannotMove:
    return CannotMove(f"{campaign} is {current.lower()} and cannot become {new.lower()}.")
