"""What a campaign wants of a person next, the most pressing first."""

from dataclasses import dataclass

from django.urls import reverse

from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus
from annotate.services.campaigns import Progress
from hits.costs import Spend, estimate, seat_cost
from hits.models import Sync
from qualcontrol.models import Appeal, Proposal


@dataclass(frozen=True)
class NextStep:
    """A sentence, and the page where it is done; no page where a button here does it."""

    sentence: str
    label: str = ""
    address: str = ""
    is_problem: bool = False


def next_steps(
    campaign: Campaign,
    *,
    progress: Progress,
    spend: Spend,
    open_checks: int,
    last_sync: Sync | None,
) -> list[NextStep]:
    """The steps, none of them where the campaign goes on by itself."""
    if campaign.status == CampaignStatus.DRAFT:
        return [_publish(campaign)]
    steps = [
        *_halted(campaign, progress, spend, last_sync),
        *_to_decide(campaign),
        *_to_review(campaign, open_checks),
    ]
    return steps or _at_the_end(campaign, progress)


def _publish(campaign: Campaign) -> NextStep:
    kind, cost = KINDS[campaign.kind], estimate(campaign)
    return NextStep(
        f"Nothing is published yet. {cost.responses:,} {kind.answers_name} cost about "
        f"${cost.total:,.2f}, fees included.",
        "Publish …",
        reverse("hits:publish", args=[campaign.slug]),
    )


def _halted(
    campaign: Campaign, progress: Progress, spend: Spend, last_sync: Sync | None
) -> list[NextStep]:
    steps = []
    if last_sync is not None and last_sync.error:
        sentence = "The last sync stopped, so this page may lag behind the marketplace."
        steps.append(NextStep(sentence, "What it said", "#sync", is_problem=True))
    if campaign.status == CampaignStatus.PAUSED:
        address = reverse("hits:publish", args=[campaign.slug])
        steps.append(NextStep("Paused: no new workers come in.", "Continue …", address))
    missing = progress.wanted - progress.submitted
    is_spent = not spend.open and spend.left < seat_cost(campaign)
    if campaign.status == CampaignStatus.RUNNING and missing > 0 and is_spent:
        kind = KINDS[campaign.kind]
        steps.append(
            NextStep(
                f"The budget is spent, and {missing:,} {kind.answers_name} are missing.",
                "Release what is complete",
                reverse("qualcontrol:releases", args=[campaign.slug]),
                is_problem=True,
            )
        )
    return steps


def _to_decide(campaign: Campaign) -> list[NextStep]:
    proposals = Proposal.objects.open().filter(campaign=campaign).count()
    appeals = Appeal.objects.open().filter(exclusion__campaign=campaign).count()
    wait = []
    if proposals:
        wait.append(f"{_counted(proposals, 'worker is', 'workers are')} proposed for exclusion")
    if appeals:
        wait.append(f"{_counted(appeals, 'appeal waits', 'appeals wait')} for an answer")
    if not wait:
        return []
    address = reverse("qualcontrol:quality", args=[campaign.slug])
    return [NextStep(f"{', and '.join(wait)}.", "Decide", address)]


def _to_review(campaign: Campaign, open_checks: int) -> list[NextStep]:
    if not open_checks:
        return []
    kind = KINDS[campaign.kind]
    what = _counted(open_checks, f"{kind.answer_name} waits", f"{kind.answers_name} wait")
    address = reverse("qualcontrol:queue", args=[campaign.slug])
    return [NextStep(f"{what} for review.", "Review", address)]


def _at_the_end(campaign: Campaign, progress: Progress) -> list[NextStep]:
    if progress.complete < progress.tasks or not progress.tasks:
        return []
    if not campaign.releases.filter(is_partial=False).exists():
        kind = KINDS[campaign.kind]
        return [
            NextStep(
                f"Every {kind.subject_name} has its {kind.answers_name}, and no question is open.",
                "Make a release",
                reverse("qualcontrol:releases", args=[campaign.slug]),
            )
        ]
    if campaign.status != CampaignStatus.FINISHED:
        return [NextStep("It is complete and released. “Finish” closes it for good.")]
    return []


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
