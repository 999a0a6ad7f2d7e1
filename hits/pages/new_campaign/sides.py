"""What a step shows beside its form: images, workers who qualify, cost and pay, and advice."""

from collections.abc import Sequence
from decimal import Decimal
from math import ceil, floor, sqrt
from typing import Any

from django.conf import settings

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.families import parse_plan
from annotate.kinds.reading import CampaignFileError
from annotate.models import CampaignDraft, Selection
from annotate.services.drafts import value_at
from hits.pages.new_campaign.advice import advice_on
from hits.pages.new_campaign.steps import Step
from hits.queries.costs import Estimate, estimate_for, panel_estimate, slot_fee
from hits.queries.prospects import (
    LEAST_ANSWERS,
    MOST_PILOTS,
    first_images,
    hourly_pay,
    known_workers_at,
    pilots,
    selections_to_choose,
)

MOST_SELECTIONS = 30
# Values that let the other steps be computed while these are missing.
PLACEHOLDERS = {"name": "new", "budget": "0", "selection": "none yet"}


def side_of(step: Step, draft: CampaignDraft) -> dict[str, Any]:
    """The further variables of the step's template."""
    configs = configs_so_far(draft)
    config = configs[0] if configs else None
    makers = {
        "images": _images,
        "workers": _workers,
        "reward": _reward,
        "checks": _checks,
        "checklist": _checklist,
    }
    make = makers.get(step.name)
    kind = KINDS.get(config.kind) if config else None
    return {"config": config, "kind": kind, **(make(draft, configs) if make else {})}


def configs_so_far(draft: CampaignDraft) -> list[CampaignConfig]:
    """The draft's files, one for each language, with placeholders for what is missing; empty if it
    has invalid values."""
    kind = KINDS.get(str(draft.file.get("kind")))
    placeholders = dict(PLACEHOLDERS)
    if kind is not None and "selection" not in kind.material_keys:
        del placeholders["selection"]
        placeholders[kind.material_keys[0]] = "none yet"
    if any(draft.file.get(key) for key in ("release", "caption_set")):
        for key in ("selection", "release", "caption_set"):
            placeholders.pop(key, None)
    try:
        return parse_plan({**placeholders, **draft.file}).configs
    except CampaignFileError:
        return []


def number_of_tasks(draft: CampaignDraft, config: CampaignConfig) -> int | None:
    """The number of tasks; None if it is known only when the campaign is created."""
    name, kind = value_at(draft.file, "selection"), KINDS[config.kind]
    selection = Selection.objects.of_team(draft.team).filter(name=name).first()
    if selection is None:
        return None
    try:
        return kind.number_of_tasks(selection, kind.with_language(config, draft.team))
    except CampaignNotPossible:
        return None


def cost_of(draft: CampaignDraft, config: CampaignConfig) -> Estimate | None:
    tasks = number_of_tasks(draft, config)
    return (
        None if tasks is None else estimate_for(config, lacking={config.wanted: tasks}, tasks=tasks)
    )


def _together(draft: CampaignDraft, configs: Sequence[CampaignConfig]) -> dict[str, Any] | None:
    """The number, cost and budget of the campaigns in all languages; None if there is only one."""
    if len(configs) < 2:
        return None
    costs = [cost_of(draft, config) for config in configs]
    return {
        "campaigns": len(configs),
        "cost": sum(cost.total for cost in costs if cost) or None,
        "budget": sum(config.budget for config in configs),
    }


def _images(draft: CampaignDraft, _configs: Sequence[CampaignConfig]) -> dict[str, Any]:
    chosen = value_at(draft.file, "selection")
    rows = list(selections_to_choose(draft.team))
    shown = [row for place, row in enumerate(rows) if place < MOST_SELECTIONS or row.name == chosen]
    pictures = first_images([row.pk for row in shown])
    return {"selections": [(row, pictures[row.pk]) for row in shown]}


def _workers(_draft: CampaignDraft, configs: Sequence[CampaignConfig]) -> dict[str, Any]:
    if not configs:
        return {}
    return {"known": known_workers_at(settings.MTURK_ENDPOINT, configs[0].workers)}


def _reward(draft: CampaignDraft, configs: Sequence[CampaignConfig]) -> dict[str, Any]:
    if not configs:
        return {}
    config = configs[0]
    cost = cost_of(draft, config)
    has_budget = value_at(draft.file, "budget") is not None
    found = pilots(config.kind, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, found)
    return {
        "cost": cost,
        "together": _together(draft, configs),
        "fee": slot_fee(config),
        "pays": pays,
        "left_out": [pilot for pilot in found if not pilot.is_enough][:MOST_PILOTS],
        "least_answers": LEAST_ANSWERS,
        "by_panel": (
            panel_estimate(cost, per_hour=pays[0].per_hour)
            if cost and config.workers.who != "own"
            else None
        ),
        "lacking": cost.total - config.budget if cost and has_budget else Decimal(0),
    }


def _checks(draft: CampaignDraft, configs: Sequence[CampaignConfig]) -> dict[str, Any]:
    config = configs[0] if configs else None
    cost = cost_of(draft, config) if config else None
    if config is None or cost is None:
        return {}
    number, share = cost.responses, config.review.share
    spread = 2 * sqrt(number * share * (1 - share))
    # Each task needs so many people, each of whom has first responses.
    firsts = min(cost.tasks, config.review.first) * config.wanted
    return {
        "cost": cost,
        "at_random": round(number * share),
        "least_at_random": ceil(max(0.0, number * share - spread)),
        "most_at_random": floor(min(float(number), number * share + spread)),
        "firsts": firsts,
        "required": min(number, round(number * share + firsts * (1 - share))),
    }


def _checklist(draft: CampaignDraft, configs: Sequence[CampaignConfig]) -> dict[str, Any]:
    if not configs:
        return {}
    config = configs[0]
    cost = cost_of(draft, config)
    found = pilots(config.kind, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, found)
    known = known_workers_at(settings.MTURK_ENDPOINT, config.workers)
    return {
        "cost": cost,
        "together": _together(draft, configs),
        "pay": pays[0],
        "known": known,
        "advice": list(advice_on(draft, configs, cost=cost, pay=pays[0], known=known)),
    }
