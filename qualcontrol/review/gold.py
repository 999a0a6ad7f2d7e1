"""Gold: reviewers are shown what is judged already, to see whether they would judge it so."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, Task
from qualcontrol.models import Gold, GoldAnswer, SpotCheck, Verdict
from qualcontrol.review.judging import follow_verdict, keep_judgement
from qualcontrol.services.errors import JUDGED_BY_YOU, AlreadyJudged, NoGold, text_given
from qualcontrol.services.locks import locked_response


def mark_gold(
    *, response: Response, verdict: Verdict | str, reason: str, actor: User, at: datetime
) -> Gold:
    """Make a response a gold item. If it has no verdict yet, this also records one.

    Raises NoGold where the response has another verdict, or none because two reviewers have to
    agree on it; ReasonMissing, AlreadyJudged.
    """
    gold, is_judged = _mark(response, Verdict(verdict), reason, actor, at)
    if is_judged:
        follow_verdict(campaign=gold.campaign, at=at)
    return gold


@transaction.atomic
def _mark(
    response: Response, verdict: Verdict, reason: str, actor: User, at: datetime
) -> tuple[Gold, bool]:
    """The gold item, and whether the response got its verdict by it."""
    response = locked_response(response.pk)
    check = SpotCheck.objects.filter(response=response).exclude(verdict="").first()
    if check is None:
        if not keep_judgement(
            response=response, verdict=verdict, reason=reason, reviewer=actor, at=at
        ):
            raise NoGold(
                "Two reviewers have to agree on a response before it can be a gold item. "
                "Have it judged first."
            )
    elif check.verdict != verdict:
        raise NoGold(f"This response already has the verdict {check.verdict.lower()}.")
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
        raise NoGold("This response is already a gold item.")
    return gold, check is None


def seed_gold(*, task: Task, text: str, reason: str, actor: User, at: datetime) -> Gold:
    """Put a made-up caption among the checks, which a reviewer should find bad.

    Raises NoGold for a kind of task that has no captions, ReasonMissing.
    """
    campaign: Campaign = task.campaign
    if not KINDS[campaign.kind].takes_text:
        raise NoGold("Made-up gold items are available for caption campaigns only.")
    return Gold.objects.create(
        campaign=campaign,
        task=task,
        text=text_given(text, "the text of the made-up caption"),
        verdict=Verdict.BAD,
        reason=text_given(reason, "what is wrong with the made-up caption"),
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
