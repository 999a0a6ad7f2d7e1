"""The review page, which shows one response after another.

Its script posts verdicts in the background and shows the next response at once, from those that the
page has loaded ahead. Without the script, a verdict redirects to the queue.
"""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.urls.converters import UUIDConverter
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Right
from accounts.pages.signed_in import form_page, posted, refusals_in, refusals_shown, user_of
from annotate.images.copies import display_url
from annotate.images.files import original_url
from annotate.kinds import KINDS, TaskKind
from annotate.lookups import campaign_of
from annotate.models import Campaign, Release, Response, ResponseStatus
from annotate.queries.keywords import keywords_with_language
from annotate.queries.progress import progress
from qualcontrol.models import SpotCheck, Verdict, WorkerRisk
from qualcontrol.pages.forms import ChangeForm, QuestionForm, VerdictForm, reasons_against
from qualcontrol.queries.decision_log import visible_to_reviewers
from qualcontrol.review import undoing
from qualcontrol.review.items import (
    ASKED,
    FIRST,
    HELD,
    MOST_USEFUL,
    RANDOM,
    SECOND,
    Item,
    item_by_key,
    or_404,
    responses_among,
    review_counts,
    settled_among,
)
from qualcontrol.review.judging import ask_second_opinion, judge_item, withdraw_question
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import (
    change_verdict,
    last_judged,
    last_judgement,
    restore_response,
    undo_preview,
    why_it_stays,
)
from qualcontrol.services.errors import CannotAsk
from qualcontrol.services.releasing import missing

KEY = re.compile(UUIDConverter.regex)
# The number of items that the page loads ahead.
AHEAD = 3
# The latest skipped items that an address names, for a browser without the script: servers refuse
# longer ones.
MOST_SKIPPED = 100
# In the session: whether the reviewer does the required checks alone.
ONLY_REQUIRED = "only_required_checks"
OTHERS_SHOWN = 8
CAUSES = {
    RANDOM: "Random check, chosen regardless of flags.",
    FIRST: "One of this worker's first responses.",
    SECOND: "Second judgement; the first is hidden.",
    ASKED: "Another reviewer asks for a second opinion.",
    HELD: "Breaks the campaign's rules. The payment waits for your verdict.",
    MOST_USEFUL: "Most useful check at this point.",
}


@require_http_methods(["GET", "HEAD", "POST"])
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """The next response to judge; with `only=required` in the address, from now on only of the
    required checks. For a page that has loaded items ahead, only the items that it lacks; it posts,
    because an address has no room for hundreds of keys.

    A GET reserves up to 1 + AHEAD responses for the reviewer for 15 minutes, so that two reviewers
    are not shown the same one. A repeated GET returns the same responses. HEAD and prefetch
    requests reserve nothing.
    """
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    if is_prefetch(request):
        # Browsers discard an error and request the page again when the reviewer opens it.
        return HttpResponse(status=503, headers={"Cache-Control": "no-store"})
    if request.method == "HEAD":
        return HttpResponse()
    fields = request.POST or request.GET
    if "ahead" in fields:
        return _top_up(request, campaign, fields)
    if only := request.GET.get("only"):
        request.session[ONLY_REQUIRED] = only == "required"
    skipped = _keys(request.GET, "skip")
    again = _again(request, campaign)
    shown_again = [item.key for item in again]
    # Skipped items come again at the end of the queue.
    items = again + (
        _next(request, campaign, 1 + AHEAD, shown_again, skipped)
        or _next(request, campaign, 1 + AHEAD, shown_again)
    )
    if not items:
        last = last_judgement(campaign, user_of(request))
        context = {
            "campaign": campaign,
            "kind": KINDS[campaign.kind],
            "last": last[1] if last else None,
            "stays": why_it_stays(last[1]) if last else "",
            "response": item_by_key(campaign, last[0]).response if last else None,
            "further": _further(campaign) if _only_required(request, campaign) else 0,
            "can_be_released": not (
                missing(campaign) or Release.objects.of_campaign(campaign).exists()
            ),
        }
        return render(request, "qualcontrol/queue_empty.html", context)
    return _page(request, campaign, items, skipped, VerdictForm(KINDS[campaign.kind]))


@require_POST
def judge(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Store a verdict, and continue with the next item."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    skipped = _keys(request.POST, "skip")
    form = VerdictForm(KINDS[campaign.kind], request.POST)
    with refusals_shown(request), or_404(key):
        if not form.is_valid():
            items = [item_by_key(campaign, key)]
            return _page(request, campaign, items, skipped, form, status=422)
        judge_item(
            campaign=campaign,
            key=key,
            verdict=form.cleaned_data["verdict"],
            reason=form.cleaned_data["reason"],
            reviewer=user_of(request),
            at=timezone.now(),
        )
    if "ahead" in request.POST:
        return _top_up(request, campaign, request.POST)
    address = reverse("qualcontrol:queue", args=[slug])
    return redirect(f"{address}?{urlencode({'skip': _skipped(skipped)})}" if skipped else address)


@require_POST
def ask(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Ask other reviewers for a second opinion on an item, or withdraw the request."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    form = QuestionForm(request.POST)
    with refusals_shown(request):
        if not form.is_valid():
            raise CannotAsk(str(form.errors["question"][0]))
        if "withdraw" in request.POST:
            with or_404(key):
                withdraw_question(campaign=campaign, key=key, at=timezone.now())
            messages.success(request, "Request withdrawn. One verdict is enough again.")
        else:
            with or_404(key):
                ask_second_opinion(
                    campaign=campaign,
                    key=key,
                    question=form.cleaned_data["question"],
                    reviewer=user_of(request),
                    at=timezone.now(),
                )
            messages.success(request, "Other reviewers are shown it, with your name.")
    if "ahead" in request.POST:
        return _top_up(request, campaign, request.POST)
    return redirect("qualcontrol:queue", slug)


@require_POST
def take_back(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Take back the reviewer's judgement of an item, and show it again."""
    return _take_back(request, campaign_of(request, slug, may=Right.REVIEW), key)


@require_POST
def take_back_last(request: HttpRequest, slug: str) -> HttpResponse:
    """Take back the reviewer's last judgement, and show its item again."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    last = last_judgement(campaign, user_of(request))
    if last is None:
        messages.info(request, "You have no verdict here that you could take back.")
        return redirect("qualcontrol:queue", slug)
    return _take_back(request, campaign, last[0])


def _take_back(request: HttpRequest, campaign: Campaign, key: UUID) -> HttpResponse:
    reviewer = user_of(request)
    with refusals_shown(request), or_404(key):
        undoing.take_back(campaign=campaign, key=key, reviewer=reviewer, at=timezone.now())
        messages.success(request, "Verdict taken back.")
    if "ahead" in request.POST:
        return _top_up(request, campaign, request.POST)
    address = reverse("qualcontrol:queue", args=[campaign.slug])
    return redirect(f"{address}?{urlencode({'again': str(key)})}")


def _again(request: HttpRequest, campaign: Campaign) -> list[Item]:
    """The item that the URL asks for, if the reviewer may judge it."""
    keys = _keys(request.GET, "again")[:1]
    if not keys or settled_among(campaign, keys, user_of(request)):
        return []
    return [item_by_key(campaign, keys[0])]


def is_prefetch(request: HttpRequest) -> bool:
    """Whether a browser prefetches the page before the reviewer asks for it."""
    purposes = (request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz"))
    return any("prefetch" in purpose.lower() for purpose in purposes)


def _only_required(request: HttpRequest, campaign: Campaign) -> bool:
    """The reviewer's choice, or until then whether there are required checks."""
    if ONLY_REQUIRED not in request.session and SpotCheck.objects.of(campaign).open().exists():
        request.session[ONLY_REQUIRED] = True
    return bool(request.session.get(ONLY_REQUIRED))


def _further(campaign: Campaign) -> int:
    """The number of responses that need no check."""
    checks = SpotCheck.objects.of(campaign).exclude(response__status=ResponseStatus.DISCARDED)
    return max(0, progress(campaign).submitted - checks.count())


def _next(
    request: HttpRequest,
    campaign: Campaign,
    count: int,
    held: Sequence[UUID],
    skipped: Sequence[UUID] = (),
) -> list[Item]:
    """The next items for the reviewer, except those that the page has or that were skipped. A gold
    item on the page keeps further ones away, so that they come at their interval."""
    items = next_checks(
        campaign=campaign,
        reviewer=user_of(request),
        count=count,
        at=timezone.now(),
        only_required=_only_required(request, campaign),
        without=responses_among(campaign, [*held, *skipped]),
        skipped=skipped,
    )
    return [item for item in items if item.key not in held]


def _page(
    request: HttpRequest,
    campaign: Campaign,
    items: Sequence[Item],
    skipped: Sequence[UUID],
    form: VerdictForm,
    status: int = 200,
) -> HttpResponse:
    shown, *ahead = _shown(campaign, items)
    kind = KINDS[campaign.kind]
    context = {
        "campaign": campaign,
        "kind": kind,
        "shown": shown,
        "ahead": ahead,
        "skipped": _skipped(skipped),
        "last": last_judged(campaign, user_of(request)),
        "counts": review_counts(campaign, user_of(request)),
        "only_required": _only_required(request, campaign),
        "further": _further(campaign),
        "form": form,
        "reasons": _numbered_reasons(kind),
    }
    return render(request, "qualcontrol/queue.html", context, status=status)


def _top_up(request: HttpRequest, campaign: Campaign, fields: QueryDict) -> HttpResponse:
    """The items that a page lacks, and the keys of those that it should drop."""
    held, skipped = _keys(fields, "ahead"), _keys(fields, "skip")
    gone = settled_among(campaign, held, user_of(request))
    count = 1 + AHEAD - len(held) + len(gone)
    items = _next(request, campaign, count, held, skipped) if count > 0 else []
    kind = KINDS[campaign.kind]
    context = {
        "campaign": campaign,
        "kind": kind,
        "ahead": _shown(campaign, items),
        "gone": _joined(gone),
        "counts": review_counts(campaign, user_of(request)),
        "reasons": _numbered_reasons(kind),
    }
    return render(request, "qualcontrol/review_ahead.html", context)


def _numbered_reasons(kind: TaskKind) -> list[dict[str, Any]]:
    return [
        {"key": number, "value": value, "label": label}
        for number, (value, label) in enumerate(reasons_against(kind).items(), start=1)
    ]


def _shown(campaign: Campaign, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Each item with what its page shows."""
    has_keywords = KINDS[campaign.kind].takes_text  # Keywords prime text only.
    workers = {item.response.worker_id for item in items}
    risks = {
        risk.worker_id: risk for risk in WorkerRisk.objects.of(campaign).filter(worker__in=workers)
    }
    return [
        {
            "item": item,
            "response": item.response,
            "image": item.response.task.image,
            "image_url": display_url(item.response.task.image),
            "original_url": original_url(item.response.task.image),
            "keywords": keywords_with_language(item.response.task, campaign.config.language)
            if has_keywords
            else [],
            "cause": CAUSES[_cause(item)],
            "is_most_useful": _cause(item) == MOST_USEFUL,
            "worker_risk": risks.get(item.response.worker_id),
            "others": _others(campaign, item.response),
        }
        for item in items
    ]


def _cause(item: Item) -> str:
    """Why an item is shown. A required check is always named as such, so that all are judged
    alike."""
    check = getattr(item.response, "spot_check", None)
    if check is None or item.cause in (SECOND, ASKED):
        return item.cause
    return RANDOM if check.is_random else FIRST if check.is_first else item.cause


def _others(campaign: Campaign, response: Response) -> list[Response]:
    """The worker's latest other responses. Empty for an invented worker."""
    if response.worker_id is None:
        return []
    theirs = Response.objects.of(campaign).filter(worker=response.worker_id).exclude(pk=response.pk)
    answer = KINDS[campaign.kind].answer_relations
    return list(
        theirs.select_related("task__image", "spot_check", *answer).order_by("-pk")[:OTHERS_SHOWN]
    )


def _keys(fields: QueryDict, name: str) -> list[UUID]:
    """The keys in a field, separated by spaces. Other words are ignored."""
    words = fields.get(name, "").split()
    return [UUID(word) for word in words if KEY.fullmatch(word)]


def _skipped(keys: Sequence[UUID]) -> str:
    return _joined(keys[-MOST_SKIPPED:])


def _joined(keys: Sequence[UUID]) -> str:
    return " ".join(map(str, keys))


@require_http_methods(["GET", "HEAD", "POST"])
def response(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show a response, with what a change of its verdict moves, and change it."""
    campaign = campaign_of(request, slug, may=Right.REVIEW)
    kind = KINDS[campaign.kind]
    related = ("task__campaign", "task__image", "worker", "spot_check", "assessment")
    rows = Response.objects.of(campaign).select_related(*related, *kind.answer_relations)
    response = get_object_or_404(rows, pk=pk)
    form = ChangeForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            messages.success(request, _change(request, response, form))
            return redirect("qualcontrol:response", slug, pk)
    log = campaign.decisions.filter(response=response).select_related("actor", "worker")
    context = {
        "campaign": campaign,
        "kind": kind,
        "response": response,
        "image_url": display_url(response.task.image),
        "preview": undo_preview(response),
        "decisions": visible_to_reviewers(log),
        "asked": response.second_opinions.wanted().select_related("asked_by").first(),
    }
    return form_page(request, "qualcontrol/response.html", form, context)


def _change(request: HttpRequest, response: Response, form: ChangeForm) -> str:
    """Do what the form asks for, and return what to say."""
    change, reason = form.cleaned_data["change"], form.cleaned_data["reason"]
    actor, at = user_of(request), timezone.now()
    if change == ChangeForm.RESTORE:
        restore_response(response=response, reason=reason, actor=actor, at=at)
        return "Restored. It counts again."
    counts = change_verdict(response=response, verdict=change, reason=reason, actor=actor, at=at)
    verdict = Verdict(change).label.lower()
    return f"Verdict changed to {verdict}. It {'counts' if counts else 'does not count'}."
