"""A task's frame: its address and height, the pages in it, and the submission.

A frame on another site, or without cookies, has no session. The assignment's id is enough, because
only its worker knows it. If there is a session, the assignment must be in its scope.

A task page may send the answers in the background and ask for JSON, so that it stays if the network
fails. The `outcome` is `accepted`, `last` (accepted, and there is no other HIT of the group for the
worker), `late`, `over` (submitted with other answers, or returned), or `refused`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    BadRequest,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from marketplace import clock, queries
from marketplace.errors import AssignmentClosed, DomainError
from marketplace.models import Assignment, AssignmentStatus, Hit, Worker
from marketplace.pages.problems import UNREADABLE, plainly
from marketplace.pages.sessions import Home, home_of, in_language_of, recognise, scope_of
from marketplace.questions import answers, forms
from marketplace.questions.documents import (
    ExternalQuestion,
    FormQuestion,
    HtmlQuestion,
    parse_question,
)
from marketplace.questions.forms import Field, Filled
from marketplace.services import assignments
from marketplace.services.assignments import participation_for
from shared.requests import content_policy, wants_json

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
# Pages from a requester's text must not act as this site. Without allow-same-origin they have an
# opaque origin, which their scripts cannot change. A window that such a page opens belongs to
# another site and has that site's cookies.
OWN_TEXT_SANDBOX = (
    "allow-scripts allow-forms allow-modals allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox"
)


@dataclass(frozen=True)
class Frame:
    url: str
    sandbox: str
    height: int
    assignment_id: str
    worker_id: str


def frame_of(hit: Hit, *, worker: Worker, assignment: Assignment | None = None) -> Frame:
    """The frame in which the worker does the assignment, or sees the HIT before accepting it."""
    assignment_id, worker_id = PREVIEW_ID, ""
    if assignment is not None:
        assignment_id = assignment.public_id
    if assignment is not None or settings.MTURK_PREVIEW_HAS_WORKER_ID:
        worker_id = worker.public_id
    parameters = {
        "assignmentId": assignment_id,
        "hitId": hit.public_id,
        **({"workerId": worker_id} if worker_id else {}),
        "turkSubmitTo": settings.MARKETPLACE_URL,
    }
    question = parse_question(hit.question)
    if isinstance(question, ExternalQuestion):
        url, sandbox = question.url_with(parameters), settings.MTURK_FRAME_SANDBOX
    else:
        path = reverse("question_frame", args=[hit.public_id])
        url = f"{settings.MARKETPLACE_FRAME_URL}{path}?{urlencode(parameters)}"
        sandbox = OWN_TEXT_SANDBOX
    return Frame(url, sandbox, question.frame_height, assignment_id, worker_id)


# Status of an assignment that nobody has ended when its submission is refused.
LATE = {AssignmentStatus.ACCEPTED, AssignmentStatus.ABANDONED}


@require_GET
@xframe_options_exempt
def question(request: HttpRequest, hit_id: str) -> HttpResponse:
    """The page of a HIT whose question is part of the HIT."""
    hit = Hit.objects.undisposed().filter(public_id=hit_id).first()
    if hit is None:
        raise Http404("HIT not found.")
    parsed = parse_question(hit.question)
    if isinstance(parsed, HtmlQuestion):
        response = HttpResponse(led_here(parsed.html, submit_address=_submit_address()))
    elif isinstance(parsed, FormQuestion):
        return _form(request, parsed, action=_submit_address())
    else:
        raise Http404("This HIT's page is on another host.")
    # The header applies even if the page is opened outside a frame.
    response.headers["Content-Security-Policy"] = (
        f"sandbox {OWN_TEXT_SANDBOX}; frame-ancestors {_own_frames()}"
    )
    return response


@csrf_exempt
@xframe_options_exempt
def external_submit(request: HttpRequest) -> HttpResponse:
    """Store a worker's answers. A refusal is a page with the reason and changes nothing."""
    response = _take_answers(request)
    if request.method in {"GET", "POST"}:
        # A task page on any site may read the response. Its request carries no cookies.
        response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["Vary"] = "Accept"
    # The response is shown in place of the task, in a frame of this site.
    if "Content-Security-Policy" not in response.headers:
        response.headers["Content-Security-Policy"] = content_policy(frame_ancestors="'self'")
    return response


def _take_answers(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        problem = _problem(request, "Answers must be submitted with POST.", status=405)
        problem.headers["Allow"] = "POST"
        return problem
    assignment = None
    try:
        assignment = _submitted_assignment(request)
        parsed = parse_question(assignment.hit.question)
        if isinstance(parsed, FormQuestion):
            filled = forms.fill(parsed.parts, request.POST.getlist)
            if filled.problems:
                return _form(request, parsed, action=_submit_address(), filled=filled)
            document = answers.build_for_form(filled.answers)
        else:
            document = answers.build(_fields(request))
        participation = assignments.submit(assignment=assignment, answer=document, at=clock.now())
    except (RequestDataTooBig, TooManyFieldsSent):
        return _problem(request, "The answers are too long. Please shorten them.", status=413)
    except (BadRequest, MultiPartParserError, TooManyFilesSent):
        return _problem(request, UNREADABLE, status=400)
    except DomainError as error:
        return _refused(request, error, assignment)
    hit, worker = assignment.hit, assignment.worker
    hit_type = hit.hit_type
    is_last = not (participation or worker.is_member) and not assignments.next_hit(
        worker=worker, hit_type=hit_type, at=clock.now(), after=hit
    )
    if wants_json(request):
        return JsonResponse({"outcome": "last" if is_last else "accepted"})
    context: dict[str, object] = {
        "hit_type": hit_type,
        "study": participation.study if participation else None,
        "member": worker if worker.is_member else None,
        "is_last": is_last,
    }
    with in_language_of(worker, participation):
        context["home"] = home_of(worker)
        return render(request, "marketplace/submitted.html", context)


def _refused(
    request: HttpRequest, error: DomainError, assignment: Assignment | None
) -> HttpResponse:
    """The reason why nothing was submitted, in the words of the worker's own pages."""
    scope = scope_of(request)
    worker = assignment.worker if assignment else getattr(scope, "worker", None)
    participation = getattr(scope, "participation", None)
    if participation is None and assignment is not None:
        participation = participation_for(assignment)
    is_over = isinstance(error, AssignmentClosed)
    outcome = "over" if is_over else "refused"
    if is_over and assignment is not None and assignment.status in LATE:
        outcome = "late"
    with in_language_of(worker, participation):
        is_plain = participation is not None or (worker is not None and worker.is_member)
        message = plainly(error) if is_plain else str(error)
        home = home_of(worker) if worker is not None and participation is None else None
        texts = _texts(request) if outcome == "late" else []
        return _problem(
            request, message, status=error.status, outcome=outcome, home=home, texts=texts
        )


def _texts(request: HttpRequest) -> list[str]:
    """The texts of the answers, which the worker's page has lost by sending them."""
    fields = (values for name, values in _fields(request) if name not in answers.RESERVED)
    return [text for values in fields for text in values if text.strip()]


def _form(
    request: HttpRequest, form: FormQuestion, *, action: str, filled: forms.Filled | None = None
) -> HttpResponse:
    given = request.POST if filled else request.GET
    is_preview = given.get("assignmentId", PREVIEW_ID) == PREVIEW_ID
    context = {
        "rows": form_rows(form, request.POST if filled else None, filled),
        "action": action,
        "assignment_id": given.get("assignmentId", ""),
        "is_preview": is_preview,
        "has_problems": bool(filled),
    }
    response = render(
        request, "marketplace/question_form.html", context, status=400 if filled else 200
    )
    # The form contains none of the requester's scripts and frames.
    response.headers["Content-Security-Policy"] = (
        "sandbox allow-forms allow-popups allow-top-navigation-by-user-activation; "
        "default-src 'none'; style-src 'self' " + settings.MARKETPLACE_URL + "; "
        f"img-src {FORM_MEDIA['img_src']}; media-src {FORM_MEDIA['media_src']}; "
        f"frame-ancestors {_own_frames()}"
    )
    return response


def _own_frames() -> str:
    # With a separate host for frames, the page that contains the frame is on the main host.
    return f"'self' {settings.MARKETPLACE_URL}" if settings.MARKETPLACE_FRAME_URL else "'self'"


def _submit_address() -> str:
    # A relative URL works under every name of the host.
    base = settings.MARKETPLACE_URL if settings.MARKETPLACE_FRAME_URL else ""
    return base + reverse("external_submit")


def _fields(request: HttpRequest) -> list[tuple[str, list[str]]]:
    # Fields in the query string count too; the values of fields in the body are appended to them.
    fields: dict[str, list[str]] = {}
    for source in (request.GET, request.POST):
        for name, values in source.lists():
            fields.setdefault(name, []).extend(str(value) for value in values)
    return list(fields.items())


def _submitted_assignment(request: HttpRequest) -> Assignment:
    public_id = request.POST.get("assignmentId") or request.GET.get("assignmentId") or ""
    if public_id == PREVIEW_ID:
        raise DomainError("This is only a preview, so nothing was submitted. Accept the HIT first.")
    if not public_id or not public_id.isprintable():
        raise DomainError("The form has no assignmentId.")
    assignment = queries.assignment_of_page(public_id, "hit__hit_type__notification_setting")
    if assignment and recognise(request, assignment.worker):
        return assignment
    scope = scope_of(request)
    if assignment is None or (scope is not None and not scope.owns(assignment)):
        raise AssignmentClosed("You have no such assignment. Nothing was submitted.")
    return assignment


def _problem(
    request: HttpRequest,
    message: str,
    *,
    status: int,
    outcome: str = "refused",
    home: Home | None = None,
    texts: Sequence[str] = (),
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"outcome": outcome, "message": message}, status=status)
    context: dict[str, object] = {"problem": message, "outcome": outcome, "texts": texts}
    if home is not None:
        context["home"] = home
    return render(request, "marketplace/problem.html", context, status=status)


_SITE = r"https?://(?:www|worker|workersandbox)\.mturk\.com"
_SUBMIT_ADDRESS = re.compile(f"{_SITE}/mturk/externalSubmit", re.IGNORECASE)
# A string literal in a script, which appends the rest of the URL to it.
_SITE_ALONE = re.compile(f"(?<=[\"'`]){_SITE}(?=/?[\"'`])", re.IGNORECASE)
_SCRIPT_ADDRESS = re.compile(
    r"(?:https?:)?//(?:s3\.amazonaws\.com/mturk-public|mturk-public\.s3\.amazonaws\.com)"
    r"/externalHIT_v1\.js",
    re.IGNORECASE,
)


def led_here(html: str, *, submit_address: str) -> str:
    """The page with this site's submit URL and script in place of Amazon's.

    Amazon's sample of an HTMLQuestion, and most pages derived from it, post to `www.mturk.com` and
    load a script from Amazon that fills in the assignment's id. The stored question stays as it is.
    """
    html = _SUBMIT_ADDRESS.sub(lambda _: submit_address, html)
    html = _SITE_ALONE.sub(lambda _: settings.MARKETPLACE_URL, html)
    return _SCRIPT_ADDRESS.sub(lambda _: static("marketplace/external_hit.js"), html)


# Images and recordings of forms are on requesters' servers. Old forms use http URLs, which browsers
# upgrade or block on an https page.
FORM_MEDIA = {"img_src": "'self' https: http:", "media_src": "https: http:"}


def form_rows(
    form: FormQuestion, given: QueryDict | None, filled: Filled | None
) -> Iterator[dict[str, Any]]:
    """Each part of the form with the entered values and its error message."""
    for number, part in enumerate(form.parts, start=1):
        if not isinstance(part, Field):
            yield {"block": part}
            continue
        entered = given.getlist(part.identifier) if given is not None else [part.default]
        yield {
            "field": part,
            "id": f"question-{number}",
            "value": entered[-1] if entered else "",
            "chosen": set(entered) if given is not None else set(),
            "other": _entered_other(part, given),
            "problem": filled.problems.get(part.identifier, "") if filled else "",
        }


def _entered_other(part: Field, given: QueryDict | None) -> str:
    if part.other is None:
        return ""
    return part.other.default if given is None else given.get(part.other.identifier, "")
