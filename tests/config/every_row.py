"""Rows for every page and address of the site, to try all of them."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.test import Client

from accounts.models import Team
from annotate.exports.records import context_of
from annotate.models import Campaign, Release, Response, ResponseStatus
from annotate.services.drafts import begin_draft
from background.models import Failure, FailureSource, Job, Webhook
from leaderboard.models import Challenge
from qualcontrol.models import Act, Appeal, Decision, HeldCause, HeldPayment
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ImageFactory,
    ResponseFactory,
    SelectionFactory,
    SpotCheckFactory,
    TeamFactory,
    UserFactory,
    WorkerAccountFactory,
)

# Amounts of the campaign that a reviewer must not see, and a name that another team must not see.
BUDGET, REWARD, NAME = "98765.43", "7.89", "zebra"
# Arguments of addresses whose rows or files do not exist, or which are no rows.
OTHERS = {
    "number": 1,
    "act": "pause",
    "file": "captions.json",
    "file_format": "csv",
    "path": "none.jpg",
    "pk": 0,
    "size": "large",
    "code": "none",
    "state": "preview",
    "text": "none",
    "uidb64": "none",
    "token": "none",
    "hits:new_step.name": "task",
    "annotate:report_file.file": "report.html",
}


def make_world(name: str) -> tuple[dict[str, Any], dict[str, User]]:
    """A team with its members and rows of each sort, all of which have this name in theirs; return
    the values of addresses, and the members by role."""
    home = TeamFactory(slug=f"{name}-team")
    users = {
        "viewer": UserFactory(team=home, team__role="VIEWER"),
        "reviewer": UserFactory(team=home, team__role="REVIEWER"),
        "researcher": UserFactory(team=home),
    }
    response = _response(home, name)
    campaign = response.campaign
    draft = begin_draft(owner=users["researcher"], file={"name": f"{name}-2"}, team=home, at=NOON)
    names = {
        **OTHERS,
        "slug": campaign.slug,
        "pseudonym": response.worker.pseudonym,
        "key": uuid4(),
        "account:member.pk": users["viewer"].memberships.get().pk,
        "hits:reject.pk": response.pk,
        "qualcontrol:response.pk": response.pk,
        "images:image.pk": response.task.image_id,
        "images:selection.name": campaign.selection.name,
        "api-selection.name": campaign.selection.name,
        "hits:new_.pk": draft.pk,
        **_released(campaign),
        **_in_background(campaign),
    }
    return names, users


def _response(home: Team, name: str) -> Response:
    """A response with a spot check in a campaign of one image."""
    image = ImageFactory(team=home, split=name, key=name)
    campaign = CampaignFactory(
        slug=name,
        team=home,
        selection=SelectionFactory(team=home, name=f"{name}-set", split=name, images=[image]),
        budget=BUDGET,
        config={"budget": BUDGET, "hit": {"reward": REWARD}},
    )
    response = ResponseFactory(task__campaign=campaign, task__image=image, task__number=1)
    SpotCheckFactory(response=response)
    raised = f"From $1.00 to ${Decimal(BUDGET):,}."
    Decision.objects.create(campaign=campaign, act=Act.BUDGET, reason=raised, at=NOON)
    return response


def _released(campaign: Campaign) -> dict[str, Any]:
    """A release with a challenge that has not opened; return the values of addresses."""
    release = Release.objects.create(
        name=f"{campaign.slug}-v1",
        campaign=campaign,
        seed=0,
        created_at=NOON,
        is_partial=True,
        context=context_of(campaign),
    )
    challenge = Challenge.objects.create(
        name=f"{campaign.slug}-race",
        title=campaign.slug,
        release=release,
        plain_data="none",
        per_day=1,
        in_total=1,
        opens_at=NOON.replace(year=2999),
        metrics=[],
        tokeniser="plain",
        seconds=1,
        megabytes=1,
        created_at=NOON,
    )
    return {
        "name": release.name,
        "leaderboard.name": challenge.name,
        "api-challenge.name": challenge.name,
    }


def _in_background(campaign: Campaign) -> dict[str, Any]:
    """A job, a failure and a webhook of the campaign; return the values of addresses."""
    job = Job.objects.create(
        kind="report",
        title=f"Report on {campaign.slug}",
        team=campaign.team,
        about=campaign,
        fingerprint=campaign.slug,
        asked_at=NOON,
        due_at=NOON,
    )
    failure = Failure.objects.create(
        source=FailureSource.SYNC,
        subject=campaign.slug,
        team=campaign.team,
        about=campaign,
        title=f"Sync of {campaign.slug}",
        error="The key is wrong.",
        first_at=NOON,
        last_at=NOON,
    )
    hook = Webhook.objects.create(
        about=campaign, url="https://example.org/", kinds=[], created_at=NOON
    )
    return {
        "jobs.key": job.key,
        "jobs:try_again.pk": failure.pk,
        "jobs:dismiss.pk": failure.pk,
        "api-job.key": job.key,
        "webhooks.key": hook.key,
        "api-webhook.key": hook.key,
    }


def world_of_a_team() -> tuple[dict[str, Any], dict[str, Client]]:
    """Make a team's rows; return the values of addresses, and a client of each user."""
    names, users = make_world(NAME)
    users["outsider"] = UserFactory(team=TeamFactory(slug="other-team"))
    return names, _clients(users, operator=_operator())


def rows_of_every_page() -> tuple[dict[str, Any], dict[str, Client]]:
    """Make rows for every page; return the values of addresses, and clients of users who see them
    all."""
    names, users = make_world(NAME)
    names |= _of_workers(Campaign.objects.get(slug=names["slug"]))
    Challenge.objects.update(opens_at=NOON)
    return names, _clients({"researcher": users["researcher"]}, operator=_operator())


def _operator() -> User:
    return UserFactory(team=False, is_superuser=True, is_staff=True)


def _clients(users: dict[str, User], **others: User) -> dict[str, Client]:
    clients = {"stranger": Client()}
    for who, user in (users | others).items():
        clients[who] = Client()
        clients[who].force_login(user)
    return clients


def _of_workers(campaign: Campaign) -> dict[str, Any]:
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
        submission=AssignmentFactory(hit=hit, account=other).submission,
        cause=HeldCause.NO_TASK,
        why="It fits no task.",
        held_at=NOON,
    )
    CampaignFactory(slug=f"{NAME}-draft", team=campaign.team, status="DRAFT")
    return {
        "hits:reject.pk": discarded.pk,
        "hits:pay_held.pk": held.pk,
        "hits:reject_held.pk": held.pk,
        "qualcontrol:answer_appeal.pk": appeal.pk,
    }
