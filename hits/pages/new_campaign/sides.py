"""The panels beside a step's form: images, workers who qualify, cost and pay, and advice on
settings that are valid but probably unwise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor, sqrt
from typing import Any

from django.conf import settings

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS, CampaignNotPossible
from annotate.kinds.campaign_files import CampaignFileError, parse_plan
from annotate.models import Campaign, CampaignDraft, CampaignStatus, Selection
from annotate.queries.keywords import has_classes
from annotate.services.drafts import file_so_far, value_at
from corpora.wording import counted
from hits.mturk.endpoints import is_amazons
from hits.pages.new_campaign.steps import BY_NAME, Step
from hits.queries.costs import (
    MINIMUM_WAGE,
    Estimate,
    estimate_for,
    panel_estimate,
    slot_cost,
    slot_fee,
)
from hits.queries.prospects import (
    LEAST_ANSWERS,
    MOST_PILOTS,
    HourlyPay,
    Known,
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
        "short": _reward,
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
        return parse_plan({**placeholders, **file_so_far(draft)}).configs
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
    piloted = pilots(config, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, piloted)
    return {
        "cost": cost,
        "together": _together(draft, configs),
        "fee": slot_fee(config),
        "pays": pays,
        "left_out": [pilot for pilot in piloted if not pilot.is_enough][:MOST_PILOTS],
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
    # Each task needs this many people, each of whom has first responses.
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
    piloted = pilots(config, team=draft.team, at_endpoint=settings.MTURK_ENDPOINT)
    pays = hourly_pay(config, piloted)
    known = known_workers_at(settings.MTURK_ENDPOINT, config.workers)
    return {
        "cost": cost,
        "together": _together(draft, configs),
        "pay": pays[0],
        "known": known,
        "advice": list(advice_on(draft, configs, cost=cost, pay=pays[0], known=known)),
    }


# An assignment should have several times as long as it takes.
LEAST_TIMES = 3


@dataclass(frozen=True)
class Advice:
    step: Step
    sentence: str


def advice_on(
    draft: CampaignDraft,
    configs: Sequence[CampaignConfig],
    *,
    cost: Estimate | None,
    pay: HourlyPay,
    known: Known,
) -> Iterator[Advice]:
    """Each setting of the draft that is probably unwise. `configs` are those of all languages."""
    config = configs[0]
    yield from _on_task(draft, config)
    for member in configs:
        if fault := KINDS[member.kind].fault_of_title(member):
            yield Advice(BY_NAME["instructions"], fault)
    yield from _on_workers(config, known)
    yield from _on_pay(config, pay)
    if "budget" in draft.file:
        yield from _on_budget(config, cost)
    yield from _on_checks(config)


def _on_task(draft: CampaignDraft, config: CampaignConfig) -> Iterator[Advice]:
    others = Campaign.objects.of_team(draft.team).filter(endpoint=settings.MTURK_ENDPOINT)
    if draft.campaign is not None:
        others = others.exclude(pk=draft.campaign.pk)
    running = others.filter(
        status=CampaignStatus.RUNNING, config_json__hit__title=config.hit.title
    ).first()
    if running is not None:
        yield Advice(
            BY_NAME["instructions"],
            f"{running} is running with the same title, so workers cannot tell the two apart.",
        )
    if (
        KINDS[config.kind].takes_text
        and config.priming.share > 0
        and config.selection
        and not has_classes(config.selection, draft.team)
    ):
        yield Advice(
            BY_NAME["images"],
            "The images have no classes, so there are no object names to show. Save this step to "
            "say so in the file.",
        )


def _on_workers(config: CampaignConfig, known: Known) -> Iterator[Advice]:
    wanted, step = config.wanted, BY_NAME["workers"]
    own_marketplace = not is_amazons(settings.MTURK_ENDPOINT)
    if config.workers.has_requirements and own_marketplace and known.qualified < wanted:
        yield Advice(
            step,
            f"Each task needs {counted(wanted, 'different worker')}, and by this site's records "
            f"{known.qualified} of the {counted(known.workers, 'known worker')} "
            f"{'meets' if known.qualified == 1 else 'meet'} the requirements. The others are told "
            "that they do not qualify.",
        )
    elif config.workers.who == "own" and known.workers < wanted:
        yield Advice(
            step,
            f"Each task needs {counted(wanted, 'different worker')}, and this site knows "
            f"{known.workers}. Invite enough people after publishing.",
        )
    if not config.workers.has_requirements and not own_marketplace:
        yield Advice(step, "Anybody at Mechanical Turk may work. Consider requirements.")


def _on_pay(config: CampaignConfig, pay: HourlyPay) -> Iterator[Advice]:
    step = BY_NAME["reward"]
    if 0 < pay.per_hour < MINIMUM_WAGE:
        source = f"as in {pay.source}" if pay.source else "estimated"
        yield Advice(
            step,
            f"The reward pays ${pay.per_hour:,.2f} an hour ({source}: {pay.seconds:.0f} s for one "
            f"answer), less than the federal minimum wage of the United States "
            f"(${MINIMUM_WAGE}).",
        )
    needed = pay.seconds * config.hit.images
    if config.hit.minutes * 60 < LEAST_TIMES * needed:
        yield Advice(
            step,
            f"Workers have {counted(config.hit.minutes, 'minute')} for work that takes about "
            f"{needed:.0f} seconds. Those who are interrupted lose their work.",
        )


def _on_budget(config: CampaignConfig, cost: Estimate | None) -> Iterator[Advice]:
    step = BY_NAME["reward"]
    if cost is not None and cost.total > config.budget:
        yield Advice(
            step,
            f"The budget of ${config.budget:,.2f} does not cover the whole campaign, which costs "
            f"${cost.total:,.2f}: it will stop before it is complete.",
        )
    elif config.budget < slot_cost(config):
        yield Advice(step, "The budget does not cover one assignment, so nothing can be published.")


def _on_checks(config: CampaignConfig) -> Iterator[Advice]:
    step, answers = BY_NAME["checks"], KINDS[config.kind].answers_name
    if not config.review.share and not config.review.first:
        yield Advice(step, f"Nobody checks any of the {answers}.")
    elif not config.review.first:
        yield Advice(step, "A careless worker is noticed late: no first answers are checked.")
