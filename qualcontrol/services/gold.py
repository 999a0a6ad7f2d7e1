"""Gold: reviewers are shown what is judged already, to see whether they would judge it so."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Campaign, Response, Task
from qualcontrol.models import Gold, GoldAnswer, SpotCheck, Verdict
from qualcontrol.services.errors import JUDGED_BY_YOU, AlreadyJudged, NoGold, reason_given
from qualcontrol.services.judging import judge


def mark_gold(
    *, response: Response, verdict: Verdict | str, reason: str, actor: User, at: datetime
) -> Gold:
    """Make a response a gold item; one that nobody has judged yet is judged so by it.

    Raises NoGold where a verdict stands that is another, ReasonMissing, AlreadyJudged.
    """
    verdict = Verdict(verdict)
    check = SpotCheck.objects.filter(response=response).exclude(verdict="").first()
    if check is None:
        judge(response=response, verdict=verdict, reason=reason, reviewer=actor, at=at)
    elif check.verdict != verdict:
        raise NoGold(f"This response was judged {check.verdict.lower()} before.")
    gold, is_new = Gold.objects.get_or_create(
        response=response,
        defaults={
            "campaign": response.task.campaign,
            "task": response.task,
            "verdict": verdict,
            "reason": reason.strip(),
            "made_by": actor,
            "made_at": at,
        },
    )
    if not is_new:
        raise NoGold("This response is gold already.")
    return gold


def seed_gold(*, task: Task, text: str, reason: str, actor: User, at: datetime) -> Gold:
    """Put a made-up caption among the checks, which a reviewer should find bad.

    Raises NoGold for a kind of task that has no captions, ReasonMissing.
    """
    campaign: Campaign = task.campaign
    if campaign.kind != "caption":
        raise NoGold("Only captions can be made up.")
    return Gold.objects.create(
        campaign=campaign,
        task=task,
        text=reason_given(text, "made-up caption: its text"),
        verdict=Verdict.BAD,
        reason=reason_given(reason, "made-up caption: what is wrong with it"),
        made_by=actor,
        made_at=at,
    )


@transaction.atomic
def answer_gold(*, gold: Gold, verdict: Verdict | str, reviewer: User, at: datetime) -> bool:
    """Keep what a reviewer says of a gold item, and nothing else changes; whether they are right.
    Raises AlreadyJudged."""
    verdict = Verdict(verdict)
    _, is_new = GoldAnswer.objects.get_or_create(
        gold=gold, reviewer=reviewer, defaults={"verdict": verdict, "at": at}
    )
    if not is_new:
        raise AlreadyJudged(JUDGED_BY_YOU)
    return verdict == gold.verdict
