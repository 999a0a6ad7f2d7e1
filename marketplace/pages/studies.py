"""Pages of a study: join, do the HITs, return to the panel with the completion code."""

from collections.abc import Mapping

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from marketplace import clock
from marketplace.errors import (
    AccountRefused,
    DomainError,
    NothingToAccept,
    NotQualified,
    PasswordNeeded,
    StudyRefused,
    TooManyAttempts,
)
from marketplace.extensions import extensions
from marketplace.models import Participation, Study
from marketplace.pages.decorators import WorkerRequest, once, scope_required, see_other
from marketplace.pages.sessions import ENGLISH, begin_study_session
from marketplace.services import studies
from marketplace.services.assignments import progress_of
from marketplace.services.studies import ScreeningStep
from shared.requests import client_address


def _study(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("hit_type__requester"), slug=slug)


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, slug: str) -> HttpResponse:
    """Describe the study; a POST joins it or continues.

    A GET changes nothing, so a prefetched or forged link has no effect.
    """
    study = _study(slug)
    with translation.override(study.language):
        return _arrive(request, study)


def _arrive(request: HttpRequest, study: Study) -> HttpResponse:
    fields = request.POST if request.method == "POST" else request.GET
    identifier = fields.get(study.id_parameter, "").strip()
    # An unfilled placeholder would give all such participants the same account.
    if not identifier or identifier.startswith("{{"):
        return _welcome(
            request,
            study,
            problem=_(
                "The address of this page does not contain your id ({parameter}). Go back to the "
                "panel, and follow its link again."
            ).format(parameter=study.id_parameter),
            status=400,
        )
    try:
        hidden = {
            name: text
            for extension in extensions()
            for name, text in extension.check_arrival(request, study, identifier).items()
        }
    except DomainError as error:
        return _welcome(request, study, problem=str(error), status=403)
    if request.method != "POST":
        return _welcome(request, study, identifier=identifier, hidden=hidden)
    return _join(request, study, identifier, hidden)


def _join(
    request: HttpRequest, study: Study, identifier: str, hidden: Mapping[str, str]
) -> HttpResponse:
    worker = request.worker or None  # type: ignore[attr-defined]
    try:
        participation = studies.join(
            study=study,
            identifier=identifier,
            address=client_address(request),
            at=clock.now(),
            signed_in=worker,
        )
    except (StudyRefused, AccountRefused) as error:
        return _welcome(request, study, problem=str(error), status=403)
    except PasswordNeeded as error:
        sign_in = _sign_in_address(request, study, identifier)
        return _welcome(request, study, problem=str(error), status=403, sign_in=sign_in)
    except TooManyAttempts as error:
        return _welcome(
            request,
            study,
            identifier=identifier,
            problem=str(error),
            hidden=hidden,
            status=error.status,
        )
    if worker != participation.worker and request.participation != participation:  # type: ignore[attr-defined]
        begin_study_session(request, participation)
    return _go_on(request, participation)


def _sign_in_address(request: HttpRequest, study: Study, identifier: str) -> str:
    """URL of the sign-in page, which returns to the study afterwards."""
    again = f"{request.path}?{urlencode({study.id_parameter: identifier})}"
    return f"{reverse('sign_in')}?{urlencode({'next': again})}"


def _welcome(
    request: HttpRequest, study: Study, *, status: int = 200, **more: object
) -> HttpResponse:
    """The first page; without an `identifier`, only the problem."""
    context = {"study": study, **more}
    return render(request, "marketplace/study_welcome.html", context, status=status)


def _participation(request: WorkerRequest, slug: str) -> Participation:
    """The participation; from here on, the page is in the language of its study."""
    mine = request.scope.participations.select_related("study__hit_type__requester", "worker")
    participation = get_object_or_404(mine, study__slug=slug)
    translation.activate(participation.study.language)
    return participation


def _in_words(error: DomainError) -> str:
    """The error's own message names what is not met, but only in English."""
    if translation.get_language() == ENGLISH or not isinstance(error, NotQualified):
        return str(error)
    return _("You do not meet the conditions of these tasks.")


@require_GET
@scope_required
def detail(request: WorkerRequest, slug: str) -> HttpResponse:
    """Show the participant's progress, and the completion code at the end."""
    return _page(request, _participation(request, slug))


def _page(
    request: HttpRequest, participation: Participation, *, problem: str = "", status: int = 200
) -> HttpResponse:
    context = {
        "study": participation.study,
        "progress": progress_of(participation),
        "problem": problem,
        "screening": _screening(participation),
        "attention_check": _attention_check(participation),
    }
    return render(request, "marketplace/study.html", context, status=status)


def _attention_check(participation: Participation) -> dict[str, object] | None:
    """The attention check that comes before the next HIT, or None."""
    progress = progress_of(participation)
    if progress.is_complete:
        return None
    check = studies.due_check(participation, done=progress.done)
    if check is None:
        return None
    choices = studies.shuffled(participation, check.choices)
    return {"pk": check.pk, "question": check.question, "choices": choices}


def _screening(participation: Participation) -> dict[str, object] | None:
    """What the page shows before the first HIT; None when there is nothing to ask."""
    step = studies.step_of(participation)
    screening = studies.screening_of(participation.study)
    if screening is None or step == ScreeningStep.DONE:
        return None
    codes = {
        ScreeningStep.REFUSED: screening.no_consent_code,
        ScreeningStep.SCREENED_OUT: screening.screened_out_code,
        ScreeningStep.FAILED: screening.failed_check_code,
    }
    code = codes.get(step, "")
    question, choices = studies.question_for(participation, screening)
    return {
        "step": str(step),
        "consent": screening.consent,
        "question": question,
        "choices": choices,
        "code": code,
        "return_url": participation.study.return_url_with(code) if code else "",
        "is_second_try": participation.wrong_answers > 0,
    }


@require_POST
@scope_required
@once(otherwise="groups")
def screen(request: WorkerRequest, slug: str) -> HttpResponse:
    """Take the participant's consent, or an answer to a question before the first HIT."""
    participation, at = _participation(request, slug), clock.now()
    if "consent" in request.POST:
        agrees = request.POST["consent"] == "yes"
        studies.consent(participation=participation, agrees=agrees, at=at)
    elif answer := request.POST.get("answer", ""):
        studies.answer(participation=participation, answer=answer, at=at)
    return see_other(participation.study)


@require_POST
@scope_required
def answer_attention_check(request: WorkerRequest, slug: str) -> HttpResponse:
    """Take the answer to the attention check that is due, and go on."""
    participation = _participation(request, slug)
    check = studies.due_check(participation, done=progress_of(participation).done)
    if check is None or request.POST.get("check") != str(check.pk):
        return see_other(participation.study)
    if text := request.POST.get("answer", ""):
        studies.answer_attention_check(
            participation=participation, check=check, text=text, at=clock.now()
        )
    return _go_on(request, participation)


@require_POST
@scope_required
def go_on(request: WorkerRequest, slug: str) -> HttpResponse:
    """Accept the participant's next HIT."""
    return _go_on(request, _participation(request, slug))


def _go_on(request: HttpRequest, participation: Participation) -> HttpResponse:
    if studies.step_of(participation) != ScreeningStep.DONE:
        return see_other(participation.study)
    if _attention_check(participation) is not None:
        return see_other(participation.study)
    try:
        assignment = studies.next_assignment(participation=participation, at=clock.now())
    except NothingToAccept:
        problem = _("This study has no tasks left: other participants have taken them.")
        return _page(request, participation, problem=problem, status=409)
    except DomainError as error:
        return _page(request, participation, problem=_in_words(error), status=403)
    target = assignment or participation.study
    return see_other(target)


@require_GET
@scope_required
def complete(request: WorkerRequest, slug: str) -> HttpResponse:
    """Redirect a participant who is done to the panel, with the completion code."""
    participation = _participation(request, slug)
    # A worker with an account can do the HITs without the study's page.
    if studies.step_of(participation) != ScreeningStep.DONE:
        raise Http404("This study's questions are not answered.")
    if not progress_of(participation).is_complete:
        raise Http404("This study has tasks left.")
    return HttpResponseRedirect(participation.study.completed_url)
