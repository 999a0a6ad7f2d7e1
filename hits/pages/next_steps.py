"""The next things that a person has to do for a campaign, the most urgent first."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Func, Min, OuterRef, QuerySet
from django.urls import reverse

from accounts.models import Right, Team
from annotate.kinds import KINDS
from annotate.models import Campaign, CampaignStatus, Release
from annotate.queries.progress import Progress
from corpora.wording import counted
from hits.models import Sync
from hits.mturk.endpoints import endpoint_of, is_amazons
from hits.pages.hand_over import admin_page
from hits.queries.costs import Spend, estimate, family_estimate, shortfall
from hits.services.syncs import sync_jobs
from qualcontrol.models import (
    Appeal,
    HeldPayment,
    Proposal,
    SecondOpinion,
    SpotCheck,
    waiting_for_verdicts,
)


@dataclass(frozen=True)
class NextStep:
    """A sentence with a link to the page for the step.

    The link is empty if a button on the campaign's page does the step.
    """

    sentence: str
    label: str = ""
    address: str = ""
    is_problem: bool = False
    needs: Right = Right.VIEW


def next_steps(
    campaign: Campaign,
    *,
    progress: Progress,
    spend: Spend,
    open_checks: int,
    last_sync: Sync | None,
    rights: Collection[Right] = frozenset(Right),
) -> list[NextStep]:
    """The steps that somebody with these rights can take; empty if the campaign needs none."""
    # A draft whose captions were all imported needs no workers, only checks and a release.
    if campaign.status == CampaignStatus.DRAFT and (progress.missing or not progress.tasks):
        # While a job publishes it, the page shows the job's progress.
        is_published = sync_jobs([campaign.slug]).unfinished().exists()
        steps = [] if is_published else [_publish(campaign)]
    else:
        steps = [
            *_halted(campaign, spend, last_sync),
            *short_of_people(campaign, progress),
            *_to_pay(campaign),
            *_to_decide(campaign),
            *_to_review(campaign, open_checks),
        ] or _at_the_end(campaign, progress)
    return [step for step in steps if step.needs in rights]


def _publish(campaign: Campaign) -> NextStep:
    kind, cost = KINDS[campaign.kind], estimate(campaign)
    together = ""
    if family := family_estimate(campaign):
        number = len(family.members)
        together = f" {family.responses:,} in all {number} languages: ${family.total:,.2f}."
    responses = counted(cost.responses, kind.answer_name, kind.answers_name)
    dollars = f"${cost.total:,.2f}, including fees" if cost.total else "nothing"
    return NextStep(
        f"Nothing is published yet. Estimated cost of {responses}: {dollars}.{together}",
        "Publish campaign …",
        reverse("hits:publish", args=[campaign.slug]),
        needs=Right.MANAGE,
    )


def _halted(campaign: Campaign, spend: Spend, last_sync: Sync | None) -> list[NextStep]:
    steps = []
    if last_sync is not None and last_sync.error:
        steps.append(NextStep(_what_failed(last_sync), "Show errors", "#sync", is_problem=True))
    if campaign.status == CampaignStatus.PAUSED:
        address = reverse("hits:publish", args=[campaign.slug])
        steps.append(
            NextStep(
                "The campaign is paused and gets no new workers.",
                "Resume campaign …",
                address,
                needs=Right.MANAGE,
            )
        )
    return [*steps, *_short_of_money(campaign, spend)]


def _short_of_money(campaign: Campaign, spend: Spend) -> list[NextStep]:
    short = shortfall(campaign, spend)
    if short is None:
        return []
    sentence = short.in_words(KINDS[campaign.kind].answers_name)
    if not short.is_used_up:
        return [NextStep(sentence, is_problem=True, needs=Right.SEE_MONEY)]
    address = reverse("qualcontrol:releases", args=[campaign.slug])
    label = "Create a partial release"
    return [NextStep(sentence, label, address, is_problem=True, needs=Right.MANAGE)]


def short_of_people(
    campaign: Campaign, progress: Progress, *, missing: int | None = None
) -> list[NextStep]:
    """A step if people joined, and are too few: as many as `missing`, or as the latest sync that
    asked has counted."""
    if campaign.status != CampaignStatus.RUNNING or campaign.config.workers.who != "own":
        return []
    if missing is None:
        asked = campaign.syncs.exclude(people_missing=None).first()
        missing = asked.people_missing or 0 if asked else 0
    nobody_joined = missing >= campaign.config.wanted and not progress.submitted
    if not missing or nobody_joined:
        return []  # "How people get in" says how many are needed.
    return [
        NextStep(
            f"The people who joined cannot finish this: invite at least {missing:,} more. "
            f"{_people_needed(campaign)}",
            "Invite people",
            reverse("hits:invite", args=[campaign.slug]),
            is_problem=True,
            needs=Right.MANAGE,
        )
    ]


def _people_needed(campaign: Campaign) -> str:
    people = counted(campaign.config.wanted, "person", "different people")
    return f"Each {KINDS[campaign.kind].subject_name} needs {people}."


def _what_failed(sync: Sync) -> str:
    if not sync.problems:
        return "The last sync failed; this page may be out of date."
    failed = counted(sync.problems, "thing")
    return f"The last sync could not deal with {failed}. The next sync tries again."


def _to_pay(campaign: Campaign) -> list[NextStep]:
    held = HeldPayment.objects.of(campaign).open()
    number = held.count()
    if not number:
        return []
    first = held.aggregate(at=Min("submission__assignment__submitted_at"))["at"]
    ends_at = first + timedelta(days=campaign.config.hit.auto_approval_days)
    return [
        NextStep(
            f"{counted(number, 'held payment needs', 'held payments need')} a decision. The "
            f"marketplace approves the first one automatically on {ends_at:%-d %b, %H:%M} UTC.",
            "Decide",
            reverse("hits:held_payments", args=[campaign.slug]),
            needs=Right.PAY,
        )
    ]


def _to_decide(campaign: Campaign) -> list[NextStep]:
    proposals = campaign.proposals.open().count()
    appeals = Appeal.objects.open().filter(exclusion__campaign=campaign).count()
    return _decisions(campaign.slug, proposals, appeals)


def _decisions(slug: str, proposals: int, appeals: int) -> list[NextStep]:
    wait = []
    if proposals:
        wait.append(f"{counted(proposals, 'worker is', 'workers are')} proposed for exclusion")
    if appeals:
        wait.append(f"{counted(appeals, 'appeal needs', 'appeals need')} an answer")
    if not wait:
        return []
    address = reverse("qualcontrol:quality", args=[slug])
    return [NextStep(f"{' and '.join(wait)}.", "Review decisions", address, needs=Right.REVIEW)]


def _to_review(campaign: Campaign, open_checks: int) -> list[NextStep]:
    workers = waiting_for_verdicts(campaign).count() if open_checks else 0
    asked = SecondOpinion.objects.of(campaign).without_check().count()
    return _reviews(campaign.slug, campaign.kind, open_checks + asked, workers)


def _reviews(slug: str, kind_name: str, waiting: int, workers: int = 0) -> list[NextStep]:
    if not waiting:
        return []
    kind = KINDS[kind_name]
    subject = counted(waiting, f"{kind.answer_name} needs", f"{kind.answers_name} need")
    address = reverse("qualcontrol:queue", args=[slug], query={"only": "required"})
    sentence = f"{subject} review."
    if workers:
        sentence += f" {counted(workers, 'worker is', 'workers are')} waiting for it."
    return [NextStep(sentence, "Review", address, needs=Right.REVIEW)]


def steps_of_reviewers(team: Team | None) -> list[NextStep]:
    """What waits for the reviewers of a team in each of its campaigns, the latest first."""
    rows = Campaign.objects.of_team(team).annotate(
        open_checks=_number(SpotCheck.objects.open().filter(campaign=OuterRef("pk"))),
        asked=_number(SecondOpinion.objects.without_check().filter(campaign=OuterRef("pk"))),
        open_proposals=_number(Proposal.objects.open().filter(campaign=OuterRef("pk"))),
        open_appeals=_number(Appeal.objects.open().filter(exclusion__campaign=OuterRef("pk"))),
    )
    columns = ("slug", "kind", "open_checks", "asked", "open_proposals", "open_appeals")
    return [
        replace(step, sentence=f"{slug}: {step.sentence}")
        for slug, kind, checks, asked, proposals, appeals in rows.order_by(
            "-created_at", "-pk"
        ).values_list(*columns)
        for step in (*_decisions(slug, proposals, appeals), *_reviews(slug, kind, checks + asked))
    ]


def _number(rows: QuerySet[Any]) -> Any:
    """The number of rows, as a column of another query."""
    return rows.order_by().annotate(number=Func("pk", function="COUNT")).values("number")


def _at_the_end(campaign: Campaign, progress: Progress) -> list[NextStep]:
    if progress.complete < progress.tasks or not progress.tasks:
        return []
    if not Release.objects.of_campaign(campaign).filter(is_partial=False).exists():
        kind = KINDS[campaign.kind]
        return [
            NextStep(
                f"Every {kind.subject_name} has all its {kind.answers_name}, and all required "
                "checks are done.",
                "Create a release",
                reverse("qualcontrol:releases", args=[campaign.slug]),
                needs=Right.MANAGE,
            )
        ]
    if campaign.status in {CampaignStatus.RUNNING, CampaignStatus.PAUSED}:
        return [
            NextStep(
                "The campaign is complete and released. Use “Finish campaign” to close it "
                "permanently.",
                needs=Right.MANAGE,
            )
        ]
    return []


def how_people_get_in(campaign: Campaign, progress: Progress) -> list[NextStep]:
    """How workers reach a running campaign; empty if it needs nobody.

    The last step leads to the campaign's HITs as a worker sees them.
    """
    if campaign.status != CampaignStatus.RUNNING or progress.complete >= progress.tasks:
        return []
    link = worker_link(campaign)
    if not link:
        return [
            NextStep(
                "The link for workers appears here after the first sync, usually within a minute."
            )
        ]
    return [*_invitations(campaign), NextStep(_about_link(campaign), "Open as a worker", link)]


def worker_link(campaign: Campaign) -> str:
    """The marketplace's page of the campaign's HITs; empty if there are no HITs yet."""
    with_hits = campaign.hit_types.filter(hits__hit_id__isnull=False)
    newest = with_hits.in_use_last(campaign).last()
    if newest is None:
        return ""
    origin = endpoint_of(campaign.endpoint).worker_origins[0]
    return f"{origin}/mturk/preview?groupId={newest.hit_type_id}"


def _invitations(campaign: Campaign) -> list[NextStep]:
    if is_amazons(campaign.endpoint):
        return []
    operator = f"{endpoint_of(campaign.endpoint).url}/operator"
    if campaign.config.workers.who == "panel":
        return [
            NextStep(
                "A panel sends people by the link of a study. Create a study with the tasks "
                f"“{campaign.slug}” at the marketplace, and give its link to the provider.",
                "Create a study",
                admin_page(campaign.endpoint, f"{operator}/studies"),
            )
        ]
    if campaign.config.workers.who == "own":
        return [
            NextStep(
                f"People join by a link, which you send them. {_people_needed(campaign)}",
                "Invite people",
                reverse("hits:invite", args=[campaign.slug]),
            )
        ]
    return [
        NextStep(
            "People need an account at the marketplace. Invite them on its admin pages: an "
            "invitation is a link with which somebody creates an account.",
            "Invite people",
            admin_page(campaign.endpoint, f"{operator}/invitations"),
        )
    ]


def _about_link(campaign: Campaign) -> str:
    workers = campaign.config.workers
    if workers.who == "own":
        return "You can try the task yourself, with a worker's account of your own."
    if not workers.has_requirements:
        return (
            "Everybody with an account may work. Send people this link, or try the task "
            "yourself with a worker's account of your own."
        )
    needs = []
    if workers.countries:
        needs.append(f"country {', '.join(workers.countries)}")
    if workers.approved_hits:
        needs.append(f"{workers.approved_hits:,} approved HITs")
    if workers.approval_rate:
        needs.append(f"an approval rate above {workers.approval_rate}%")
    if workers.masters:
        needs.append("Masters")
    return (
        f"Workers need: {', '.join(needs)}. Others are told what they lack. Send people this "
        "link, or try the task yourself with a worker's account of your own."
    )
