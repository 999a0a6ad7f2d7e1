"""Moving a campaign: publish, pause, finish; and adding to its budget."""

from decimal import Decimal

from django.db.models import F

from annotate.errors import DomainError
from annotate.models import Campaign, CampaignStatus
from annotate.pages.wording import counted
from hits.mturk.client import marketplace_of
from hits.mturk.endpoints import endpoint_of
from hits.queries.costs import estimate, slot_cost
from qualcontrol.models import HeldPayment

# The largest budget in dollars: eight digits before the point.
MOST_BUDGET = Decimal(10**8 - 1)


class NotConfirmed(DomainError):
    """Real money would be spent, and nobody confirmed it."""


class CannotMove(DomainError):
    """The campaign is not in a state from which it can be moved so."""


class BadAmount(DomainError):
    """No amount of dollars that can be added to a budget."""


def publish(*, campaign: Campaign, confirmed: bool = False) -> None:
    """Let the reconciler open slots, for a draft or a paused campaign. At the production
    marketplace it needs a confirmation; raises NotConfirmed with the cost, CannotMove,
    WrongEndpoint or MarketplaceError."""
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
    """Take no new workers; those at work may finish, and are paid. Raises CannotMove."""
    _move(campaign, [CampaignStatus.RUNNING], CampaignStatus.PAUSED)


def finish(*, campaign: Campaign) -> None:
    """End the campaign: nothing is opened any more, what is submitted is still settled. Raises
    CannotMove, also while a payment waits for a person: nobody would look at the campaign again."""
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
