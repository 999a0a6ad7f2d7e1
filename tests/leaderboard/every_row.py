"""Rows for every page of the site, to try all of them."""

from django.test import Client

from annotate.models import Campaign, Response, ResponseStatus
from leaderboard.models import Challenge
from qualcontrol.models import Appeal, HeldCause, HeldPayment
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    UserFactory,
    WorkerAccountFactory,
)
from tests.leaderboard.test_rights import make_world


def every_row() -> tuple[dict[str, object], dict[str, Client]]:
    """Make rows for every page; return the values of addresses, and a client of each user."""
    names, users = make_world("zebra")
    campaign = Campaign.objects.get(slug=names["slug"])
    names |= _of_workers(campaign)
    Challenge.objects.update(opens_at=NOON)
    users["operator"] = UserFactory(team=False, is_superuser=True, is_staff=True)
    clients = {"stranger": Client()}
    for who in ("researcher", "operator"):
        clients[who] = Client()
        clients[who].force_login(users[who])
    return names, clients


def _of_workers(campaign: Campaign) -> dict[str, object]:
    """Add what the pages about workers and payments show; return the values of addresses."""
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign))
    response = Response.objects.get(campaign=campaign)
    account = WorkerAccountFactory(worker=response.worker)
    AssignmentFactory(hit=hit, account=account)
    other = WorkerAccountFactory()
    discarded = ResponseFactory(
        task=response.task, worker=other.worker, status=ResponseStatus.DISCARDED
    )
    exclusion = ExclusionFactory(campaign=campaign, worker=other.worker)
    appeal = Appeal.objects.create(exclusion=exclusion, text="Why?", received_at=NOON)
    held = HeldPayment.objects.create(
        campaign=campaign,
        worker=other.worker,
        assignment=AssignmentFactory(hit=hit, account=other),
        cause=HeldCause.NO_TASK,
        why="It fits no task.",
        held_at=NOON,
    )
    CampaignFactory(slug="zebra-draft", team=campaign.team, status="DRAFT")
    return {
        "hits:reject.pk": discarded.pk,
        "hits:pay_held.pk": held.pk,
        "hits:reject_held.pk": held.pk,
        "qualcontrol:answer_appeal.pk": appeal.pk,
    }
