"""The quality page: the estimate, decisions to make, the policy and the reviewers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.campaign_file import Review
from annotate.kinds import KINDS, TaskKind
from annotate.pages.lookups import campaign_of
from annotate.templatetags.campaigns import percent
from qualcontrol.models import Appeal, Proposal, waiting_for_verdicts
from qualcontrol.queries.quality_report import quality_report
from qualcontrol.risk.model import LEAST_BAD_VERDICTS
from qualcontrol.services.policies import LEAST_UNPLACED, SLIPS_FORGIVEN


@require_safe
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = campaign_of(request, slug)
    proposals = Proposal.objects.open().filter(campaign=campaign)
    appeals = Appeal.objects.open().filter(exclusion__campaign=campaign)
    pauses = campaign.pauses.in_force().exclude(worker__in=proposals.values("worker"))
    context = {
        "campaign": campaign,
        "quality": quality_report(campaign),
        "proposals": proposals.select_related("worker").order_by("pk"),
        "pauses": pauses.select_related("worker").order_by("pk"),
        "waiting": waiting_for_verdicts(campaign).count(),
        "appeals": appeals.select_related("exclusion__worker").order_by("pk"),
        "policy": policy_in_words(campaign.config.review, KINDS[campaign.kind]),
    }
    return render(request, "qualcontrol/quality.html", context)


def policy_in_words(review: Review, kind: TaskKind) -> list[str]:
    """The review settings of the campaign file, one sentence each."""
    limit, answers = percent(review.limit), kind.answers_name
    words = [
        _required_checks(review, kind),
        f"One reviewer judges each {kind.answer_name}."
        if review.reviewers == 1
        else f"Two reviewers judge each {kind.answer_name} without seeing the other verdict. If "
        "they differ, a third reviewer decides.",
        f"Risk is the probability that more than {limit} of a worker's {answers} are bad.",
        f"A worker with {LEAST_BAD_VERDICTS} or more bad verdicts is "
        + ("excluded" if review.policy == "decide" else "proposed for exclusion")
        + f" once risk reaches {percent(review.certainty)}."
        + ("" if review.policy == "decide" else " A person decides."),
    ]
    if review.pause_certainty < 1:
        words.append(
            f"A worker with {LEAST_BAD_VERDICTS} or more bad verdicts gets no new tasks while risk "
            f"is {percent(review.pause_certainty)} or more."
        )
    if review.trial:
        words.append(_trial(review, answers))
    words.append(
        f"A worker who submits {LEAST_UNPLACED} answers that fit no task is paused until a person "
        "decides, unless a person pays for them. Such answers are not paid without a person."
    )
    words.append(
        f"An exclusion discards all {answers} of the worker."
        if review.discard == "all"
        else f"An exclusion discards the worker's {answers} from the first bad one on."
    )
    words.append(f"Discarded {answers} are still paid. Only a person can reject work.")
    return words


def _required_checks(review: Review, kind: TaskKind) -> str:
    sample = f"a random {percent(review.share)} of all {kind.answers_name}"
    if review.first == 1:
        sample = f"each worker's first {kind.answer_name} and {sample}"
    elif review.first:
        sample = f"each worker's first {review.first} {kind.answers_name} and {sample}"
    return (
        f"Required checks: {sample}, chosen regardless of flags. Other checks go to the most "
        f"useful {kind.answers_name}."
    )


def _trial(review: Review, answers: str) -> str:
    firsts = "first one is" if review.first == 1 else f"first {review.first} are"
    return (
        f"A new worker gets {review.trial} tasks until their {firsts} judged. If one is bad, all "
        f"{review.trial} are judged, and a worker with more than {SLIPS_FORGIVEN} bad {answers} "
        "among them is paused until a person decides."
    )
