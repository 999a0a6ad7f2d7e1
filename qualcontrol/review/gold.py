"""Gold items: checks with a known verdict, which measure reviewers."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate.kinds import KINDS
from annotate.models import Campaign, Response, Task
from qualcontrol.models import Gold, GoldAnswer, SpotCheck, Verdict
from qualcontrol.review.judging import keep_judgement
from qualcontrol.services.errors import NoGold, text_given
from qualcontrol.services.locks import locked_response
from qualcontrol.services.policies import count_and_decide


def gold_known_to(user: User, campaign: Campaign) -> QuerySet[Gold]:
    """The gold items that the user made or has judged, the latest first. The queue may still show
    the others to the user."""
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    judged = GoldAnswer.objects.filter(gold=OuterRef("pk"), reviewer=user)
    gold = campaign.gold.filter(Q(made_by=user) | Exists(judged))
    return (
        gold.select_related("task__image", "response", *content)
        .annotate(
            judged=Count("answers"),
            right=Count("answers", filter=Q(answers__verdict=F("verdict"))),
        )
        .order_by("-pk")
    )


def mark_gold(
    *, response: Response, verdict: Verdict | str, reason: str, actor: User, at: datetime
) -> Gold:
    """Make a response a gold item. If it has no verdict yet, this also records one.

    Raises NoGold if the response has another verdict, was withdrawn, or needs the judgements of two
    reviewers; ReasonMissing, AlreadyJudged.
    """
    gold, is_judged = _mark(response, Verdict(verdict), reason, actor, at)
    if is_judged:
        count_and_decide(campaign=gold.campaign, at=at)
    return gold


@transaction.atomic
def _mark(
    response: Response, verdict: Verdict, reason: str, actor: User, at: datetime
) -> tuple[Gold, bool]:
    """The gold item, and whether making it recorded the response's verdict."""
    response = locked_response(response.pk)
    if response.withdrawn_at is not None:
        raise NoGold("The person has withdrawn this response, so no reviewer would be shown it.")
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
    """Add a made-up caption to the checks, which reviewers should judge bad.

    Raises NoGold for a task type without captions, ReasonMissing.
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
