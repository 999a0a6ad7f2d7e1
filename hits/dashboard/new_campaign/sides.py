"""What a step shows beside its form: images, workers who qualify, cost and pay, and advice."""

from decimal import Decimal
from typing import Any

from django.conf import settings

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.kinds.families import parse_first
from annotate.kinds.reading import CampaignFileError
from annotate.models import CampaignDraft
from annotate.services.drafts import value_at
from hits.dashboard.new_campaign.advice import advice_on
from hits.dashboard.new_campaign.steps import Step
from hits.queries.costs import Estimate, estimate_for, panel_estimate, slot_fee
from hits.queries.prospects import (
    LEAST_ANSWERS,
    MOST_PILOTS,
    first_images,
    has_classes,
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
    config = config_so_far(draft)
    makers = {
        "images": _images,
        "workers": _workers,
        "reward": _reward,
        "checks": _checks,
        "checklist": _checklist,
    }
    make = makers.get(step.name)
    kind = KINDS.get(config.kind) if config else None
    return {"config": config, "kind": kind, **(make(draft, config) if make else {})}


def config_so_far(draft: CampaignDraft) -> CampaignConfig | None:
    """The draft's file with placeholders for what is missing; None if it has invalid values."""
    kind = KINDS.get(str(draft.file.get("kind")))
    placeholders = dict(PLACEHOLDERS)
    if kind is not None and "selection" not in kind.material_keys:
        del placeholders["selection"]
        placeholders[kind.material_keys[0]] = "none yet"
    if any(draft.file.get(key) for key in ("release", "caption_set")):
        for key in ("selection", "release", "caption_set"):
            placeholders.pop(key, None)
    try:
        return parse_first({**placeholders, **draft.file})
    except CampaignFileError:
        return None


def number_of_tasks(draft: CampaignDraft) -> int | None:
    """The number of tasks; None if it is known only when the campaign is created."""
    name = value_at(draft.file, "selection")
    limit = value_at(draft.file, "rating.images")
    if not name:
        return None
    for selection in selections_to_choose(draft.team):
        if selection.name == name:
            count: int = selection.images_count  # type: ignore[attr-defined]
            return min(count, limit) if isinstance(limit, int) else count
    return None


def cost_of(draft: CampaignDraft, config: CampaignConfig) -> Estimate | None:
    tasks = number_of_tasks(draft)
    if tasks is None:
        return None
    return estimate_for(config, tasks=tasks, responses=tasks * config.wanted)


def _images(draft: CampaignDraft, _config: CampaignConfig | None) -> dict[str, Any]:
    chosen = value_at(draft.file, "selection")
    rows = list(selections_to_choose(draft.team))
    shown = [row for place, row in enumerate(rows) if place < MOST_SELECTIONS or row.name == chosen]
    pictures = first_images([row.pk for row in shown])
    return {
        "selections": [(row, pictures[row.pk]) for row in shown],
        "chosen": chosen,
        "is_without_classes": bool(chosen) and not has_classes(str(chosen), draft.team),
    }


def _workers(_draft: CampaignDraft, config: CampaignConfig | None) -> dict[str, Any]:
    if config is None:
        return {}
    return {"known": known_workers_at(settings.MTURK_ENDPOINT, config.workers)}


def _reward(draft: CampaignDraft, config: CampaignConfig | None) -> dict[str, Any]:
    if config is None:
        return {}
    cost = cost_of(draft, config)
    has_budget = value_at(draft.file, "budget") is not None
    found = pilots(config.kind, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, found)
    return {
        "cost": cost,
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


def _checks(draft: CampaignDraft, config: CampaignConfig | None) -> dict[str, Any]:
    cost = cost_of(draft, config) if config else None
    if config is None or cost is None:
        return {}
    return {"cost": cost, "at_random": round(cost.responses * config.review.share)}


def _checklist(draft: CampaignDraft, config: CampaignConfig | None) -> dict[str, Any]:
    if config is None:
        return {}
    cost = cost_of(draft, config)
    found = pilots(config.kind, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, found)
    known = known_workers_at(settings.MTURK_ENDPOINT, config.workers)
    return {
        "cost": cost,
        "pay": pays[0],
        "known": known,
        "advice": list(advice_on(draft, config, cost=cost, pay=pays[0], known=known)),
    }
