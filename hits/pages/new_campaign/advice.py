"""Advice on a draft: settings that are possible and probably unwise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings

from annotate.campaign_file import CampaignConfig
from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignDraft, CampaignStatus
from annotate.queries.keywords import has_classes
from corpora.wording import counted
from hits.mturk.endpoints import is_amazons
from hits.pages.new_campaign.steps import BY_NAME, Step
from hits.queries.costs import Estimate, slot_cost_of
from hits.queries.prospects import HourlyPay, Known

# The federal minimum wage of the United States.
MINIMUM_WAGE = Decimal("7.25")
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
    for one in configs:
        if fault := KINDS[one.kind].fault_of_title(one):
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
        config.priming.share > 0
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
    elif config.budget < slot_cost_of(config):
        yield Advice(step, "The budget does not cover one assignment, so nothing can be published.")


def _on_checks(config: CampaignConfig) -> Iterator[Advice]:
    step, answers = BY_NAME["checks"], KINDS[config.kind].answers_name
    if not config.review.share and not config.review.first:
        yield Advice(step, f"Nobody checks any of the {answers}.")
    elif not config.review.first:
        yield Advice(step, "A careless worker is noticed late: no first answers are checked.")
