"""Pages on which workers request qualifications and take their tests."""

from datetime import datetime

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.errors import DomainError
from marketplace.models import (
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
)
from marketplace.pages.decorators import WorkerRequest, once, see_other, worker_required
from marketplace.pages.frames import FORM_MEDIA, form_rows
from marketplace.questions import answers, forms
from marketplace.questions.documents import FormQuestion, parse_question
from marketplace.services import qualification_types
from shared.requests import content_policy


def _find(public_id: str) -> QualificationType:
    return get_object_or_404(
        QualificationType.objects.select_related("requester"),
        public_id=public_id,
        is_deleted=False,
    )


def _last_request(
    request: WorkerRequest, qualification_type: QualificationType
) -> QualificationRequest | None:
    return (
        request.worker.qualification_requests.filter(qualification_type=qualification_type)
        .select_related("qualification_type__requester", "worker")
        .order_by("-pk")
        .first()
    )


@require_GET
@worker_required
def detail(request: WorkerRequest, public_id: str) -> HttpResponse:
    """Show the qualification, the state of the worker's request, and a running test."""
    return _page(request, _find(public_id))


def _page(
    request: WorkerRequest,
    qualification_type: QualificationType,
    *,
    filled: forms.Filled | None = None,
    status: int = 200,
) -> HttpResponse:
    last = _last_request(request, qualification_type)
    at = clock.now()
    is_taking_test = last is not None and _is_taking(last, at)
    context = {
        "type": qualification_type,
        "is_held": request.worker.qualifications.filter(
            qualification_type=qualification_type, status=QualificationStatus.GRANTED
        ).exists(),
        "can_be_improved": qualification_types.can_be_improved(qualification_type),
        "is_pending": last is not None and last.status == QualificationRequestStatus.PENDING,
        "is_taking_test": is_taking_test,
        "has_problems": bool(filled),
    }
    if last is not None and is_taking_test:
        given = request.POST if filled else None
        left = qualification_types.time_left(last, at)
        context["seconds_left"] = int(left.total_seconds())
        context["rows"] = form_rows(_test(last), given, filled)
    response = render(request, "marketplace/qualification.html", context, status=status)
    response.headers["Content-Security-Policy"] = content_policy(frame_src="'self'", **FORM_MEDIA)
    return response


def _is_taking(last: QualificationRequest, at: datetime) -> bool:
    is_started = last.status == QualificationRequestStatus.STARTED
    return is_started and not qualification_types.is_test_over(last, at)


def _test(taken: QualificationRequest) -> FormQuestion:
    form = parse_question(taken.test)
    assert isinstance(form, FormQuestion), "only forms can be tests"
    return form


@require_POST
@worker_required
@once(otherwise="groups")
def ask(request: WorkerRequest, public_id: str) -> HttpResponse:
    """Request the qualification, or begin its test."""
    qualification_type = _find(public_id)
    try:
        made = qualification_types.request_qualification(
            qualification_type=qualification_type, worker=request.worker, at=clock.now()
        )
    except DomainError as error:
        messages.error(request, str(error))
    else:
        if made.status == QualificationRequestStatus.GRANTED:
            messages.success(request, "You now have the qualification.")
        elif made.status == QualificationRequestStatus.PENDING:
            messages.success(request, "Qualification requested. The requester decides.")
    return see_other(request.path.removesuffix("/request"))


@require_POST
@worker_required
@once(otherwise="groups")
def hand_in(request: WorkerRequest, public_id: str) -> HttpResponse:
    """Submit the answers to the test."""
    qualification_type = _find(public_id)
    last = _last_request(request, qualification_type)
    here = request.path.removesuffix("/test")
    if last is None or not last.test:
        messages.error(request, "You have not started this test.")
        return see_other(here)
    filled = forms.fill(_test(last).parts, request.POST.getlist)
    if filled.problems and _is_taking(last, clock.now()):
        return _page(request, qualification_type, filled=filled, status=400)
    try:
        qualification_types.submit_test(
            request=last, answer=answers.build_for_form(filled.answers), at=clock.now()
        )
    except DomainError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Test submitted.")
    return see_other(here)
