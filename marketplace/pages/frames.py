"""Pages inside a task's frame: questions that are part of the HIT, and submission.

A frame on another site, or without cookies, has no session. The assignment's id is enough, because
only its worker knows it. If there is a session, the assignment must be in its scope.
"""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from marketplace import clock, queries
from marketplace.errors import AssignmentClosed, DomainError
from marketplace.models import Assignment, Hit
from marketplace.questions import FormQuestion, HtmlQuestion, answers, forms, parse_question
from marketplace.services import assignments
from marketplace.services.participations import participation_for

from .amazon_pages import led_here
from .context import Home, home_of
from .form_rows import form_rows
from .frame_urls import OWN_TEXT_SANDBOX, PREVIEW_ID
from .languages import in_language_of
from .people.wording import plainly
from .policy import MEDIA_POLICY, content_policy
from .sessions import recognise, scope_of


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
    except AssignmentClosed as error:
        return _refused(request, error, assignment, status=409)
    except DomainError as error:
        return _refused(request, error, assignment, status=400)
    hit, worker = assignment.hit, assignment.worker
    hit_type = hit.hit_type
    context: dict[str, object] = {
        "hit_type": hit_type,
        "study": participation.study if participation else None,
        "member": worker if worker.is_member else None,
        "is_last": not (participation or worker.is_member)
        and not assignments.next_hit(worker=worker, hit_type=hit_type, at=clock.now(), after=hit),
    }
    with in_language_of(worker, participation):
        context["home"] = home_of(worker)
        return render(request, "marketplace/submitted.html", context)


def _refused(
    request: HttpRequest, error: DomainError, assignment: Assignment | None, *, status: int
) -> HttpResponse:
    """The reason why nothing was submitted, in the words of the worker's own pages."""
    scope = scope_of(request)
    worker = assignment.worker if assignment else getattr(scope, "worker", None)
    participation = getattr(scope, "participation", None)
    if participation is None and assignment is not None:
        participation = participation_for(assignment)
    is_over = isinstance(error, AssignmentClosed)
    with in_language_of(worker, participation):
        is_plain = participation is not None or (worker is not None and worker.is_member)
        message = plainly(error) if is_plain else str(error)
        home = home_of(worker) if worker is not None and participation is None else None
        return _problem(request, message, status=status, is_over=is_over, home=home)


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
        f"{MEDIA_POLICY}; frame-ancestors {_own_frames()}"
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
    found = queries.assignments_of_page(public_id=public_id)
    if found and recognise(request, found[0].worker):
        return found[0]
    scope = scope_of(request)
    is_foreign = scope is not None and found and not scope.owns(found[0])
    if not found or is_foreign:
        raise AssignmentClosed("You have no such assignment. Nothing was submitted.")
    return found[0]


def _problem(
    request: HttpRequest,
    message: str,
    *,
    status: int,
    is_over: bool = False,
    home: Home | None = None,
) -> HttpResponse:
    context: dict[str, object] = {"problem": message, "is_over": is_over}
    if home is not None:
        context["home"] = home
    return render(request, "marketplace/problem.html", context, status=status)
