"""Create and change campaigns."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, ProtectedError, Q, QuerySet

from accounts.models import Team
from accounts.services.teams import first_team
from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.campaign_files import Plan
from annotate.kinds.practice import practice_images
from annotate.models import Campaign, CampaignStatus, Response, ResponseStatus, Task
from annotate.services import names
from annotate.services.responses import close_or_reopen, lock_tasks
from corpora.errors import DomainError
from shared.database.transactions import batches


class CampaignChanged(DomainError):
    """The campaign was published or changed meanwhile, so the change was not made."""


@transaction.atomic
def create_campaign(
    *,
    config: CampaignConfig,
    endpoint: str,
    at: datetime,
    team: Team | None = None,
    family: str = "",
) -> Campaign:
    """Create a draft campaign of the team with all its tasks; raises CampaignNotPossible.

    Without a team, it belongs to the first one, as what commands create without --team.
    """
    kind = KINDS[config.kind]
    team = team or first_team(at=at)
    config = kind.with_language(config, team)
    campaign, is_new = Campaign.objects.get_or_create(
        slug=config.name,
        defaults={
            "team": team,
            "kind": config.kind,
            "family": family,
            **kind.material(config, at, team),
            "endpoint": endpoint,
            "budget": config.budget,
            "config_json": config.model_dump(mode="json"),
            "created_at": at,
        },
    )
    if not is_new:
        raise CampaignNotPossible(f"name: {name_refusal(config.name, team)}")
    Task.objects.bulk_create(kind.tasks(campaign), batch_size=2000)
    campaign.practice_images.set(practice_images(config, campaign).values())
    return campaign


@transaction.atomic
def create_campaigns(
    *, plan: Plan, endpoint: str, at: datetime, team: Team | None = None
) -> list[Campaign]:
    """Create the campaigns of a file, all or none; raises CampaignNotPossible."""
    team = team or first_team(at=at)
    if plan.family:
        # Two files of one name wait for each other: in other languages, no slug would be the same.
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if Campaign.objects.of_team(team).filter(family=plan.family).exists():
            # They could not be released together if they differ, and earlier releases lack theirs.
            raise CampaignNotPossible(
                f"name: another file has made the campaigns of {plan.family} in several languages. "
                "Choose another name."
            )
    return [
        create_campaign(config=config, endpoint=endpoint, at=at, team=team, family=plan.family)
        for config in plan.configs
    ]


def name_refusal(name: str, team: Team) -> str:
    """Why the team cannot give this name, which a campaign has, to a new one."""
    return names.refusal(
        Campaign.objects.all(), name=name, team=team, noun="campaign", field="slug"
    )


@transaction.atomic
def change_campaign(
    *, campaign: Campaign, config: CampaignConfig, begun_from: Mapping[str, Any]
) -> Campaign:
    """Give a draft campaign another file, and new tasks if the file needs them.

    `begun_from` is the file that the editor saw. Raises CampaignChanged if the campaign is not a
    draft or its file has changed, and CampaignNotPossible.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.status != CampaignStatus.DRAFT:
        raise CampaignChanged(
            f"{locked} was published meanwhile, so it cannot be edited as a draft any more."
        )
    if locked.config_json != begun_from:
        raise CampaignChanged(f"Somebody else changed {locked} after you began to edit it.")
    kind = KINDS[config.kind]
    config = kind.with_language(config, locked.team)
    needs_tasks = config.of_tasks != locked.config.of_tasks
    if needs_tasks and Response.objects.of(locked).exists():
        raise CampaignNotPossible(
            f"{locked} already has responses, so its images, number of responses and priming "
            "cannot be changed. Create a new campaign instead."
        )
    _keep_reasons(locked, config)
    locked.slug, locked.kind, locked.budget = config.name, config.kind, config.budget
    locked.config_json = config.model_dump(mode="json")
    # Also checks what the kind does not allow.
    material = kind.material(config, locked.created_at, locked.team)
    if needs_tasks:
        locked.selection = locked.caption_set = None
        for name, value in material.items():
            setattr(locked, name, value)
    fields = ["slug", "kind", "budget", "config_json", "selection", "caption_set"]
    try:
        with transaction.atomic():
            locked.save(update_fields=fields)
    except IntegrityError as error:
        raise CampaignNotPossible(f"name: {name_refusal(config.name, locked.team)}") from error
    changed = Campaign.objects.get(pk=locked.pk)  # without the cached file
    if needs_tasks:
        _replace_tasks(changed)
    _apply_quorum(changed)
    changed.practice_images.set(practice_images(config, changed).values())
    return changed


def _keep_reasons(campaign: Campaign, config: CampaignConfig) -> None:
    """Raise CampaignNotPossible if imported answers have one of the reasons that the file adds or
    removes."""
    named = {*campaign.config.captions.cannot_describe} ^ {*config.captions.cannot_describe}
    said = Q(cannot_describe__in=named) | Q(caption__text__in=named)
    if named and Response.objects.of(campaign).filter(said).exists():
        raise CampaignNotPossible(
            f"{campaign} has imported answers with one of the changed reasons why an image cannot "
            "be described. Create a new campaign instead, and import them there."
        )


def _replace_tasks(campaign: Campaign) -> None:
    """Make the tasks anew from the campaign's file; raises CampaignNotPossible."""
    try:
        campaign.tasks.all().delete()
    except ProtectedError as error:
        raise CampaignNotPossible(
            f"{campaign} has made-up gold items, so its images, number of responses and priming "
            "cannot be changed. Create a new campaign instead."
        ) from error
    Task.objects.bulk_create(KINDS[campaign.kind].tasks(campaign), batch_size=2000)


def _apply_quorum(campaign: Campaign) -> None:
    """Close or open the images that imported answers say cannot be described."""
    said = Response.objects.of(campaign).exclude(cannot_describe="")
    for batch in batches(sorted(set(said.values_list("task", flat=True)))):
        lock_tasks(batch)
        close_or_reopen(batch)


def incomplete_tasks(campaign: Campaign) -> QuerySet[Task]:
    """Tasks with fewer submitted responses than wanted, annotated with the number as `has`."""
    submitted = Count("responses", filter=Q(responses__status=ResponseStatus.SUBMITTED))
    return campaign.tasks.annotate(has=submitted).filter(has__lt=F("wanted"))
