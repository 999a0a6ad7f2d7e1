"""Gauges of running campaigns, for the page of metrics."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Count, Max, Min, Sum
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from annotate.models import Campaign, CampaignStatus, Task
from hits.models import Claim, Sync, TaskPage
from hits.queries.costs import spends
from shared.metrics import gauge


def gauges() -> Iterator[GaugeMetricFamily]:
    """Claims, missing responses, waiting answers, syncs and money of each running campaign."""
    running = list(Campaign.objects.filter(status=CampaignStatus.RUNNING))
    names, now = {campaign.pk: campaign.slug for campaign in running}, timezone.now()
    claims = Claim.objects.filter(takes_place=True).order_by()
    claimed = dict(claims.values_list("task__campaign").annotate(Count("pk")))
    yield _by_campaign("campaign_claims", "Tasks on open pages that take a place", names, claimed)
    tasks = Task.objects.filter(campaign__in=names, answers_missing__gt=0).order_by()
    missing = dict(tasks.values_list("campaign").annotate(Sum("answers_missing")))
    yield _by_campaign("campaign_responses_missing", "Responses still wanted", names, missing)
    # Pages whose time is over may never be reported: their assignment was returned.
    pages = TaskPage.objects.answered().filter(expires_at__gt=now).order_by()
    yield _by_campaign(
        "campaign_ingest_lag_seconds",
        "Age of the oldest answer that the marketplace has not reported yet",
        names,
        _ages(pages.values_list("hit__campaign").annotate(Min("answered_at")), now),
    )
    syncs = Sync.objects.filter(error="", finished_at__isnull=False).order_by()
    ages = _ages(syncs.values_list("campaign").annotate(Max("finished_at")), now)
    yield _by_campaign("campaign_sync_age_seconds", "Time since the last sync", names, ages)
    money = spends(running)
    budgets = {campaign.slug: float(money[campaign.pk].budget) for campaign in running}
    yield gauge("campaign_budget_dollars", "Budget", "campaign", budgets)
    spent = GaugeMetricFamily(
        "campaign_spend_dollars", "Money paid, owed or reserved", labels=["campaign", "state"]
    )
    for campaign in running:
        for state in ("paid", "owed", "open", "bonuses"):
            amount = float(getattr(money[campaign.pk], state))
            spent.add_metric([campaign.slug, state], amount)
    yield spent


def _by_campaign(
    name: str, about: str, names: dict[int, str], values: dict[int, float]
) -> GaugeMetricFamily:
    """A value for each campaign; 0 for those without one."""
    named = {slug: values.get(pk, 0) for pk, slug in names.items()}
    return gauge(name, about, "campaign", named)


def _ages(times: Iterable[tuple[int, datetime]], now: datetime) -> dict[int, float]:
    return {pk: (now - time).total_seconds() for pk, time in times}
