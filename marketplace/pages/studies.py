"""Pages of a study: join, do the HITs, return to the panel with the completion code."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import (
    AccountRefused,
    DomainError,
    NothingToAccept,
    PasswordNeeded,
    StudyRefused,
    TooManyAttempts,
)
from marketplace.models import Participation, Study
from marketplace.services import studies
from marketplace.services.participations import progress_of

from .decorators import ScopedRequest, scope_required
from .sessions import begin_study_session
from .sign_in import address_of


def _study(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("hit_type__requester"), slug=slug)


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, slug: str) -> HttpResponse:
    """Describe the study; a POST joins it or continues.

    A GET changes nothing, so a prefetched or forged link has no effect.
    """
    study = _study(slug)
    fields = request.POST if request.method == "POST" else request.GET
    identifier = fields.get(study.id_parameter, "").strip()
    # An unfilled placeholder would give all such participants the same account.
    if not identifier or identifier.startswith("{{"):
        return _welcome(
            request,
            study,
            "",
            problem=f"The address of this page does not contain your id ({study.id_parameter}). "
            "Go back to the panel, and follow its link again.",
            status=400,
        )
    if request.method != "POST":
        return _welcome(request, study, identifier)
    worker = request.worker or None  # type: ignore[attr-defined]
    try:
        participation = studies.join(
            study=study,
            identifier=identifier,
            address=address_of(request),
            at=clock.now(),
            signed_in=worker,
        )
    except (StudyRefused, AccountRefused) as error:
        return _welcome(request, study, "", problem=str(error), status=403)
    except PasswordNeeded as error:
        sign_in = _sign_in_address(request, study, identifier)
        return _welcome(request, study, "", problem=str(error), status=403, sign_in=sign_in)
    except TooManyAttempts as error:
        return _welcome(request, study, identifier, problem=str(error), status=429)
    if worker != participation.worker and request.participation != participation:  # type: ignore[attr-defined]
        begin_study_session(request, participation)
    return _go_on(request, participation)


def _sign_in_address(request: HttpRequest, study: Study, identifier: str) -> str:
    """URL of the sign-in page, which returns to the study afterwards."""
    again = f"{request.path}?{urlencode({study.id_parameter: identifier})}"
    return f"{reverse('sign_in')}?{urlencode({'next': again})}"


def _welcome(
    request: HttpRequest,
    study: Study,
    identifier: str,
    *,
    problem: str = "",
    sign_in: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {"study": study, "identifier": identifier, "problem": problem, "sign_in": sign_in}
    return render(request, "marketplace/study_welcome.html", context, status=status)


def _participation(request: ScopedRequest, slug: str) -> Participation:
    mine = request.scope.participations.select_related("study__hit_type__requester", "worker")
    return get_object_or_404(mine, study__slug=slug)


@require_GET
@scope_required
def detail(request: ScopedRequest, slug: str) -> HttpResponse:
    """Show the participant's progress, and the completion code at the end."""
    return _page(request, _participation(request, slug))


def _page(
    request: HttpRequest, participation: Participation, *, problem: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "study": participation.study,
        "progress": progress_of(participation),
        "problem": problem,
    }
    return render(request, "marketplace/study.html", context, status=status)


@require_POST
@scope_required
def go_on(request: ScopedRequest, slug: str) -> HttpResponse:
    """Accept the participant's next HIT."""
    return _go_on(request, _participation(request, slug))


def _go_on(request: HttpRequest, participation: Participation) -> HttpResponse:
    try:
        assignment = studies.next_assignment(participation=participation, at=clock.now())
    except NothingToAccept:
        problem = "This study has no tasks left: other participants have taken them."
        return _page(request, participation, problem=problem, status=409)
    except DomainError as error:
        return _page(request, participation, problem=str(error), status=403)
    target = assignment or participation.study
    return HttpResponseRedirect(target.get_absolute_url(), status=303)


@require_GET
@scope_required
def complete(request: ScopedRequest, slug: str) -> HttpResponse:
    """Redirect a participant who is done to the panel, with the completion code."""
    participation = _participation(request, slug)
    if not progress_of(participation).is_complete:
        raise Http404("This study has tasks left.")
    return HttpResponseRedirect(participation.study.completed_url)
