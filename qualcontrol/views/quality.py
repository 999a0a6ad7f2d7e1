"""The quality page: how good the campaign's responses are, and what waits for a decision."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.config import Review
from annotate.kinds import KINDS, TaskKind
from annotate.models import Campaign
from annotate.templatetags.campaigns import percent
from qualcontrol.figures import quality as figures
from qualcontrol.models import Appeal, Proposal
from qualcontrol.risk import LEAST_BAD_VERDICTS


@require_safe
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """The estimate, what is to be decided, the campaign's policy, and its reviewers."""
    campaign = get_object_or_404(Campaign, slug=slug)
    proposals = Proposal.objects.open().filter(campaign=campaign)
    appeals = Appeal.objects.open().filter(exclusion__campaign=campaign)
    pauses = campaign.pauses.in_force().exclude(worker__in=proposals.values("worker"))
    context = {
        "campaign": campaign,
        "quality": figures(campaign),
        "proposals": proposals.select_related("worker").order_by("pk"),
        "pauses": pauses.select_related("worker").order_by("pk"),
        "appeals": appeals.select_related("exclusion__worker").order_by("pk"),
        "policy": policy_in_words(campaign.config.review, KINDS[campaign.kind]),
    }
    return render(request, "qualcontrol/quality.html", context)


def policy_in_words(review: Review, kind: TaskKind) -> list[str]:
    """What the campaign file says of checks and of what follows from them, a sentence each."""
    over = f"more than {percent(review.limit)} of a worker's {kind.answers_name} are bad"
    words = [
        f"Checked are each worker's first {kind.answers_name} ({review.first}) and a random "
        f"{percent(review.share)} of all, whatever the signs say. Other checks go where they are "
        "worth most.",
        f"One reviewer judges each {kind.answer_name}."
        if review.reviewers == 1
        else f"Two reviewers judge each {kind.answer_name}, neither of whom sees the other's "
        "verdict; where they differ, a third one decides.",
        f"Who has at least {LEAST_BAD_VERDICTS} bad verdicts is "
        f"{'excluded' if review.policy == 'decide' else 'proposed for exclusion'} as soon as it is "
        f"{percent(review.certainty)} certain that {over}."
        + ("" if review.policy == "decide" else " A person decides."),
    ]
    if review.pause_certainty < 1:
        words.append(
            f"From {percent(review.pause_certainty)} certainty on, a worker with a bad verdict "
            "gets no new tasks, until it falls again."
        )
    words.append(
        f"An exclusion discards all {kind.answers_name} of the worker."
        if review.discard == "all"
        else f"An exclusion discards the worker's {kind.answers_name} since the first that was "
        "judged bad."
    )
    words.append("What is discarded is paid all the same. Only a person rejects work.")
    return words
