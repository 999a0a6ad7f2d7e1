"""The notices of this app: work stands still, the budget is nearly spent."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Exists, OuterRef

from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Response, ResponseStatus, Task
from background.notices.registry import Event, NoticeKind, register
from hits.models import Hit
from hits.queries.costs import shortfall, spends
from hits.services.lifecycle import MOVES
from qualcontrol.models import Decision

# A running campaign stands still if nothing was submitted for this long.
STANDS_STILL_AFTER = timedelta(hours=6)
NEARLY_SPENT = Decimal("0.9")


def standing_still(at: datetime) -> Iterator[Event]:
    since = at - STANDS_STILL_AFTER
    tasks = Task.objects.filter(campaign=OuterRef("pk"))
    hits = Hit.objects.filter(campaign=OuterRef("pk"), planned_at__lte=since)
    # Nobody could submit during a pause, even if the first HITs were planned long ago.
    moves = Decision.objects.filter(campaign=OuterRef("pk"), act__in=MOVES, at__gt=since)
    campaigns = Campaign.objects.filter(
        Exists(tasks.filter(answers_missing__gt=0)),
        Exists(hits),
        ~Exists(moves),
        status=CampaignStatus.RUNNING,
    )
    for campaign in campaigns:
        recent = Response.objects.of(campaign).filter(
            status__in=ResponseStatus.values, submitted_at__gt=since
        )
        if recent.exists():
            continue
        kind = KINDS[campaign.kind]
        hours = STANDS_STILL_AFTER // timedelta(hours=1)
        yield Event(
            subject=f"campaign-{campaign.pk}",
            title="Work stands still",
            text=f"The campaign is running and {kind.answers_name} are missing, but none was "
            f"submitted in the last {hours} hours.",
            path=campaign.get_absolute_url(),
            about=campaign,
        )


def short_budgets(_at: datetime) -> Iterator[Event]:
    campaigns = list(Campaign.objects.filter(status=CampaignStatus.RUNNING))
    for campaign in campaigns:
        money = spends([campaign])[campaign.pk]
        if money.committed < campaign.budget * NEARLY_SPENT:
            continue
        if (short := shortfall(campaign, money)) is None:
            continue
        yield Event(
            subject=f"campaign-{campaign.pk}",
            title="Budget nearly spent",
            text=f"${money.committed:,.2f} of ${campaign.budget:,.2f} are paid or reserved. "
            + short.in_words(KINDS[campaign.kind].answers_name),
            path=campaign.get_absolute_url(),
            about=campaign,
        )


for _kind in (
    NoticeKind(
        name="work-stands-still",
        label="Work stands still",
        about="a running campaign got no response for six hours",
        find=standing_still,
    ),
    NoticeKind(
        name="budget-nearly-spent",
        label="The budget is nearly spent",
        about="90% are paid or reserved, and the rest does not cover what is missing",
        find=short_budgets,
        is_about_money=True,
    ),
):
    register(_kind)
