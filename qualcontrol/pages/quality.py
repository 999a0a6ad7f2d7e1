"""The quality page (the estimate, decisions to make, the policy, the reviewers), and the decision
log."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.pages.lists import FilterForm, choice, csv_file, day, search, stretch_of, wants_csv
from accounts.rights import rights_in
from annotate.campaign_file import CampaignConfig, Review
from annotate.kinds import KINDS, TaskKind
from annotate.lookups import campaign_of
from corpora.wording import exact_percent
from qualcontrol.models import Act, Appeal, waiting_for_verdicts
from qualcontrol.queries.decision_log import (
    DECISIONS_IN_ORDER,
    decision_columns,
    found_decisions,
)
from qualcontrol.queries.quality_report import quality_report
from qualcontrol.risk.model import LEAST_BAD_VERDICTS
from qualcontrol.services.policies import LEAST_UNPLACED, SLIPS_FORGIVEN


@require_safe
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    campaign = campaign_of(request, slug)
    proposals = campaign.proposals.open()
    appeals = Appeal.objects.open().filter(exclusion__campaign=campaign)
    pauses = campaign.pauses.in_force().exclude(worker__in=proposals.values("worker"))
    context = {
        "campaign": campaign,
        "quality": quality_report(campaign),
        "proposals": proposals.select_related("worker").order_by("pk"),
        "pauses": pauses.select_related("worker").order_by("pk"),
        "waiting": waiting_for_verdicts(campaign).count(),
        "appeals": appeals.select_related("exclusion__worker").order_by("pk"),
        "policy": policy_in_words(campaign.config, KINDS[campaign.kind]),
    }
    return render(request, "qualcontrol/quality.html", context)


def policy_in_words(config: CampaignConfig, kind: TaskKind) -> list[str]:
    """The review settings of the campaign file, one sentence each."""
    review, is_paid = config.review, bool(config.hit.reward)
    limit, answers = exact_percent(review.limit), kind.answers_name
    words = [
        _required_checks(review, kind),
        f"One reviewer judges each {kind.answer_name}."
        if review.reviewers == 1
        else f"Two reviewers judge each {kind.answer_name} without seeing the other verdict. If "
        "they differ, a third reviewer decides.",
        f"Risk is the probability that more than {limit} of a worker's {answers} are bad.",
        f"A worker with {LEAST_BAD_VERDICTS} or more bad verdicts is "
        + ("excluded" if review.policy == "decide" else "proposed for exclusion")
        + f" once risk reaches {exact_percent(review.certainty)}."
        + ("" if review.policy == "decide" else " A person decides."),
    ]
    if review.pause_certainty < 1:
        words.append(
            f"A worker with {LEAST_BAD_VERDICTS} or more bad verdicts gets no new tasks while risk "
            f"is {exact_percent(review.pause_certainty)} or more."
        )
    if review.trial:
        words.append(_trial(review, answers))
    words.append(
        f"A worker who submits {LEAST_UNPLACED} answers that fit no task is paused until a person "
        "decides, unless a person accepts them."
        + (" Such answers are not paid without a person." if is_paid else "")
    )
    words.append(
        f"An exclusion discards all {answers} of the worker."
        if review.discard == "all"
        else f"An exclusion discards the worker's {answers} from the first bad one on."
    )
    still_paid = f"Discarded {answers} are still paid. " if is_paid else ""
    words.append(f"{still_paid}Only a person can reject work.")
    return words


def _required_checks(review: Review, kind: TaskKind) -> str:
    sample = f"a random {exact_percent(review.share)} of all {kind.answers_name}"
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


class DecisionFilters(FilterForm):
    act = choice("Decision", Act.choices)
    worker = search("Worker", max_length=10, placeholder="W-…")
    actor = search("By", max_length=150, placeholder="user name")
    reason = search("Reason contains")
    since = day("From")
    until = day("To")


@require_safe
def decisions(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The campaign's decision log, the latest entry first; also as a CSV file."""
    campaign = campaign_of(request, slug)
    filters = DecisionFilters(request)
    content = (f"response__{name}" for name in KINDS[campaign.kind].answer_relations)
    rights = rights_in(request, campaign.team)
    log = found_decisions(campaign, filters.chosen, rights).select_related(
        "actor", "worker", "response__worker", "response__task", *content
    )
    if wants_csv(request):
        entries = log.order_by(*DECISIONS_IN_ORDER).iterator(chunk_size=2000)
        return csv_file(
            f"{campaign.slug}-decisions", decision_columns(KINDS[campaign.kind]), entries
        )
    context = {
        "campaign": campaign,
        "filters": filters,
        "stretch": stretch_of(log, request, by=DECISIONS_IN_ORDER),
    }
    return render(request, "qualcontrol/decisions.html", context)
