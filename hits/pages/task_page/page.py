"""The worker's task page, shown in the marketplace's frame.

Browsers send no cookies from a frame on another site, so the page uses none. The marketplace's four
parameters identify the worker, and a signed token in the form repeats them with the answer.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotate.images.copies import display_srcset, display_url
from annotate.kinds import KINDS
from annotate.kinds.practice import Question, is_passed, marked, question, signed_marks
from annotate.kinds.wording import in_language
from annotate.models import Campaign, Task
from background.tasks import hand_on
from corpora.errors import DomainError
from corpora.language.text import Problem
from hits.mturk.endpoints import Endpoint, endpoint_of, origin_of
from hits.pages.task_page.fixed_parts import fixed_parts, record_page
from hits.pages.task_page.form import (
    TokenRefused,
    behaviour_field,
    device_of,
    read_counts,
    read_form,
    sign_form,
)
from hits.reconcile.bar import bar_if_done
from hits.services import first_questions, task_pages
from hits.services.claims import NothingToDo
from hits.services.hit_pages import FrameParameters, UnknownHit, WaitsForVerdicts
from hits.services.task_pages import OpenPage, TaskForm
from hits.tasks import tell_barring
from shared.requests import content_policy, wants_json

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ENTITY_ID = re.compile(r"[A-Z0-9]{1,64}")
WORKER_ID = re.compile(r"A[A-Z0-9]{1,63}")
PRACTICE_SALT = "hits.practice"


class BadParameters(DomainError):
    """The marketplace's parameters are missing or invalid."""


class FormTooLarge(DomainError):
    """The form has more bytes or fields than the site accepts."""


@login_not_required
@csrf_exempt
@xframe_options_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def task(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a campaign's preview or a worker's tasks, or store the answer that was sent."""
    campaign = get_object_or_404(Campaign, slug=slug)
    endpoint = endpoint_of(campaign.endpoint)
    with in_language(campaign.config.language):
        try:
            if request.method == "POST":
                response = _receive(request, campaign)
            elif request.GET.get("assignmentId", PREVIEW) == PREVIEW:
                response = _preview(request, campaign)
            else:
                response = _open(request, campaign, _frame_parameters(request, endpoint))
        except DomainError as error:
            status = STATUS.get(type(error), 400)
            response = _message(request, campaign, str(error), status=status)
    return framed(response, endpoint)


STATUS = {
    UnknownHit: 404,
    task_pages.AlreadySubmitted: 409,
    TokenRefused: 403,
    FormTooLarge: 413,
}


def _frame_parameters(request: HttpRequest, endpoint: Endpoint) -> FrameParameters:
    """The marketplace's parameters; raises BadParameters.

    `turkSubmitTo` is sometimes missing. The default is the endpoint's first submit origin.
    """
    given = request.GET
    assignment_id, hit_id = given.get("assignmentId", ""), given.get("hitId", "")
    worker_id = given.get("workerId", "")
    if not (
        ENTITY_ID.fullmatch(assignment_id)
        and ENTITY_ID.fullmatch(hit_id)
        and WORKER_ID.fullmatch(worker_id)
    ):
        raise BadParameters(
            gettext("The address of this page is incomplete. Please open the task again.")
        )
    submit_to = origin_of(given.get("turkSubmitTo", "")) or endpoint.submit_origins[0]
    if submit_to not in endpoint.submit_origins:
        raise BadParameters(
            gettext("The address of this page names a marketplace that this site does not know.")
        )
    return FrameParameters(assignment_id, hit_id, worker_id, submit_to)


def _preview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the campaign's first task as an example; claims no place."""
    example = campaign.tasks.with_subject().order_by("number").first()
    items = []
    if example:
        example.primed = campaign.config.priming.share > 0
        items = [item(campaign, example, 1)]
    context = {
        **common(campaign),
        **with_instructions(campaign, shows_instructions=True),
        "items": items,
        "is_preview": True,
        "practice": campaign.config.practice,
    }
    return render(request, "hits/task.html", context)


def _open(
    request: HttpRequest, campaign: Campaign, frame: FrameParameters, marks: str = ""
) -> HttpResponse:
    try:
        page = task_pages.open_page(
            campaign=campaign, frame=frame, at=timezone.now(), practice=marks
        )
    except task_pages.NeedsPractice:
        return _ask(request, campaign, frame)
    except (NothingToDo, WaitsForVerdicts) as reason:
        if barring := bar_if_done(campaign=campaign, marketplace_id=frame.worker_id):
            hand_on(tell_barring, barring.pk)
        waits = isinstance(reason, WaitsForVerdicts)
        template = "hits/first_answers_checked.html" if waits else "hits/nothing_left.html"
        return render(request, template, common(campaign))
    record_page(campaign, timezone.now())
    return _form(request, campaign, page)


def _practise(
    request: HttpRequest,
    campaign: Campaign,
    token: str,
    fields: Mapping[str, str],
    lifetime: timedelta,
) -> HttpResponse:
    """Mark an answer, show the next question, or end the practice."""
    frame, marks = _read_practice(campaign, token, max_age=lifetime)
    if len(marks) < len(campaign.config.practice.items):
        return _ask(request, campaign, frame, marks, fields)
    signed = signed_marks(campaign, frame.worker_id, marks)
    if campaign.config.practice.paid:
        form = TaskForm(frame, timezone.now(), (), practice=signed)
        return _store(request, campaign, form, {})
    if is_passed(campaign.config, marks):
        return _open(request, campaign, frame, signed)
    return _open(request, campaign, frame)


def _ask(
    request: HttpRequest,
    campaign: Campaign,
    frame: FrameParameters,
    marks: str = "",
    fields: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Show the next question of the practice or, with an answer to it, the marked answer.

    Nothing is stored until the practice ends: a signed token in each form has the frame's
    parameters and the marks so far. So the address of a page that somebody made up affects that
    page alone.
    """
    config, asked = campaign.config, question(campaign, len(marks))
    answer = (fields or {}).get("answer", "").strip()
    context = {
        **common(campaign),
        **with_instructions(campaign, shows_instructions=not marks),
        **shown_question(campaign, asked),
        "number": len(marks) + 1,
    }
    if answer and (config.practice.way == "write" or answer in {"good", "bad"}):
        context["marked"] = marks_given = marked(config, asked, answer)
        marks += "1" if marks_given.is_right else "0"
    signed = [campaign.pk, asdict(frame), marks]
    context |= {
        "token": signing.dumps(signed, salt=PRACTICE_SALT, compress=True),
        "right": marks.count("1"),
        "is_over": len(marks) == len(config.practice.items),
        "is_passed": is_passed(config, marks),
    }
    return render(request, "hits/practice.html", context)


def _read_practice(
    campaign: Campaign, token: str, *, max_age: timedelta
) -> tuple[FrameParameters, str]:
    """The frame's parameters and the marks so far; raises TokenRefused."""
    try:
        signed_for, frame, marks = signing.loads(token, salt=PRACTICE_SALT, max_age=max_age)
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise TokenRefused(gettext("This page is too old. Please open the task again.")) from error
    if signed_for != campaign.pk:
        raise TokenRefused(
            gettext("This form was not made by this site. Please open the task again.")
        )
    return FrameParameters(**frame), marks


def shown_question(campaign: Campaign, asked: Question) -> dict[str, Any]:
    """Template variables of a question of the practice."""
    image = asked.image
    return {
        "item": {"image": image, "url": display_url(image), "srcset": display_srcset(image)},
        "captions": asked.captions,
        "practice": campaign.config.practice,
        "total": len(campaign.config.practice.items),
    }


def _form(
    request: HttpRequest,
    campaign: Campaign,
    page: OpenPage,
    *,
    fields: Mapping[str, str] | None = None,
    problems: Mapping[int, list[Problem]] | None = None,
) -> HttpResponse:
    problems = problems or {}
    ends_at = page.form.opened_at + timedelta(minutes=campaign.config.hit.minutes)
    items = [
        item(campaign, task, number, fields, problems.get(task.pk, []))
        for number, task in enumerate(page.tasks, start=1)
    ]
    context = {
        **common(campaign),
        # The instructions are open in a worker's first HIT and folded afterwards.
        **with_instructions(campaign, shows_instructions=page.is_first),
        "items": items,
        **(_first_questions(campaign, page.form.frame) if page.is_first else {}),
        "has_problems": bool(problems),
        "token": sign_form(page.form),
        # At most, because the worker may have accepted the task before opening its page.
        "seconds_left": max(0, round((ends_at - timezone.now()).total_seconds())),
        "frame": page.form.frame,
    }
    return render(request, "hits/task.html", context, status=422 if problems else 200)


def _first_questions(campaign: Campaign, frame: FrameParameters) -> dict[str, Any]:
    """Template variables of what a first form asks besides the tasks."""
    question = campaign.config.writing.question
    return {
        "confirmed_field": first_questions.CONFIRMED,
        "dots_field": first_questions.DOTS,
        "dots": first_questions.picture(campaign, frame.worker_id) if question else "",
    }


def _receive(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store the answer; return its fields for the marketplace, or the form with its problems."""
    lifetime = timedelta(minutes=campaign.config.hit.minutes) + task_pages.GRACE
    fields = _sent_fields(request)
    if token := fields.pop("practice", ""):
        return _practise(request, campaign, token, fields, lifetime)
    return _store(request, campaign, read_form(fields.pop("token", ""), max_age=lifetime), fields)


def _store(
    request: HttpRequest, campaign: Campaign, form: TaskForm, fields: dict[str, str]
) -> HttpResponse:
    try:
        if fields.pop("only_check", ""):
            task_pages.check_answers(campaign=campaign, form=form, fields=fields)
            return JsonResponse({"problems": {}})
        passed_on = task_pages.store_answers(
            campaign=campaign,
            form=form,
            fields=fields,
            counts={n: read_counts(fields.get(behaviour_field(n), "")) for n in form.numbers},
            device=device_of(request.headers),
            at=timezone.now(),
        )
    except task_pages.AnswersRefused as error:
        return _refused(request, campaign, form, fields, error)
    except task_pages.AlreadySubmitted as error:
        if error.fields is None or not wants_json(request):
            raise
        # A page that missed the marketplace's reply. The marketplace knows if it has these fields.
        passed_on = dict(error.fields)
    if wants_json(request):
        return JsonResponse({"fields": passed_on})
    context = {**common(campaign), "frame": form.frame, "fields": passed_on}
    return render(request, "hits/forward.html", context)


def _sent_fields(request: HttpRequest) -> dict[str, str]:
    """The fields of the form; raises FormTooLarge.

    Django's own response would explain nothing to the worker, and each such request would log a
    traceback.
    """
    try:
        return {name: str(value) for name, value in request.POST.items()}
    except (RequestDataTooBig, TooManyFieldsSent) as error:
        raise FormTooLarge(
            gettext("The answer is too large to be stored. Please shorten it.")
        ) from error


def _refused(
    request: HttpRequest,
    campaign: Campaign,
    form: TaskForm,
    fields: Mapping[str, str],
    error: task_pages.AnswersRefused,
) -> HttpResponse:
    page = task_pages.shown_again(campaign=campaign, form=form)
    if wants_json(request):
        kind = KINDS[campaign.kind]
        problems = {
            kind.field_names(task)[0]: [problem.message for problem in error.problems[task.pk]]
            for task in page.tasks
            if task.pk in error.problems
        }
        return JsonResponse({"problems": problems}, status=422)
    return _form(request, campaign, page, fields=fields, problems=error.problems)


def item(
    campaign: Campaign,
    task: Task,
    number: int,
    fields: Mapping[str, str] | None = None,
    problems: list[Problem] | None = None,
) -> dict[str, Any]:
    """Template variables of one task: the task type's own, the answer so far, and its problems."""
    kind = KINDS[campaign.kind]
    return {
        **kind.context(task, campaign.config, fields or {}),
        "number": number,
        "behaviour_field": behaviour_field(task.number),
        "template": kind.templates.task,
        "problems": problems or [],
    }


def common(campaign: Campaign) -> dict[str, Any]:
    """Template variables of all pages of the campaign."""
    kind = KINDS[campaign.kind]
    return {
        "campaign": campaign,
        "kind": kind,
        "config": campaign.config,
        "endpoint": endpoint_of(campaign.endpoint),
        "styles": kind.styles,
        "fits": not kind.scrolls_in_frame,
    }


def with_instructions(campaign: Campaign, *, shows_instructions: bool) -> dict[str, Any]:
    """Template variables of a page with a task."""
    fixed = fixed_parts(campaign, shows_instructions=shows_instructions)
    return {"shows_instructions": shows_instructions, "fixed": fixed}


def _message(
    request: HttpRequest, campaign: Campaign, message: str, *, status: int
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"message": message}, status=status)
    context = {**common(campaign), "message": message}
    return render(request, "hits/message.html", context, status=status)


def framed(response: HttpResponse, endpoint: Endpoint) -> HttpResponse:
    """Allow only the endpoint's worker pages to frame the page and to receive its form."""
    submit_to = f"'self' {' '.join(endpoint.submit_origins)}"
    response.headers["Content-Security-Policy"] = content_policy(
        connect_src=submit_to,
        form_action=submit_to,
        frame_ancestors=f"'self' {' '.join(endpoint.worker_origins)}",
    )
    # In a sandboxed frame, the page has no origin. Requests are checked by token instead.
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    return response
