"""Publish, pause and finish campaigns, and add to their budgets."""

from decimal import Decimal

from django.db.models import F

from annotate.errors import DomainError
from annotate.models import Campaign, CampaignStatus
from annotate.wording import counted
from hits.mturk.client import marketplace_of
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate, slot_cost
from qualcontrol.models import HeldPayment

# The largest budget in dollars: eight digits before the point.
MOST_BUDGET = Decimal(10**8 - 1)


class NotConfirmed(DomainError):
    """Publishing spends real money and was not confirmed."""


class CannotMove(DomainError):
    """The campaign's status, funds or held payments do not allow the change."""


class BadAmount(DomainError):
    """The amount cannot be added to the budget."""


def publish(*, campaign: Campaign, confirmed: bool = False) -> None:
    """Set a draft or paused campaign to running, so that the next sync creates its HITs.

    Raises NotConfirmed, which states the cost, if the marketplace spends real money and the caller
    has not `confirmed`; CannotMove, WrongEndpoint or MarketplaceError.
    """
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
    if marketplace_of(campaign).balance() < slot_cost(campaign):
        raise CannotMove(
            "The marketplace account's balance does not cover one assignment. Add funds there "
            "first."
        )
    _move(campaign, [CampaignStatus.DRAFT, CampaignStatus.PAUSED], CampaignStatus.RUNNING)


def pause(*, campaign: Campaign) -> None:
    """Set a running campaign to paused. Raises CannotMove.

    The next sync closes its HITs to new workers. Workers who have accepted one may finish it and
    are paid.
    """
    _move(campaign, [CampaignStatus.RUNNING], CampaignStatus.PAUSED)


def finish(*, campaign: Campaign) -> None:
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
    _move(campaign, [CampaignStatus.RUNNING, CampaignStatus.PAUSED], CampaignStatus.FINISHED)


def add_to_budget(*, campaign: Campaign, amount: Decimal) -> None:
    """Add an amount in dollars to the budget; the next sync creates HITs for it. Raises CannotMove
    for a finished campaign, and BadAmount."""
    is_possible = amount.is_finite() and 0 < amount <= MOST_BUDGET
    if not (is_possible and amount == round(amount, 2)):
        raise BadAmount(f"The amount must be more than $0 and at most ${MOST_BUDGET:,}, in cents.")
    unfinished = Campaign.objects.filter(pk=campaign.pk).exclude(status=CampaignStatus.FINISHED)
    small_enough = unfinished.filter(budget__lte=MOST_BUDGET - amount)
    if not small_enough.update(budget=F("budget") + amount):
        if unfinished.exists():
            raise BadAmount(f"A budget can be at most ${MOST_BUDGET:,}.")
        raise CannotMove(f"{campaign} is finished and spends nothing more.")
    campaign.refresh_from_db(fields=["budget"])


def _move(campaign: Campaign, old: list[CampaignStatus], new: CampaignStatus) -> None:
    if not Campaign.objects.filter(pk=campaign.pk, status__in=old).update(status=new):
        current = Campaign.objects.get(pk=campaign.pk).status
        raise CannotMove(f"{campaign} is {current.lower()} and cannot become {new.lower()}.")
    campaign.status = new
