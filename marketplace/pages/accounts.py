"""Pages for signing in and up, and the worker's profile."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.errors import AccountRefused, LinkRefused, SignInRefused, TooManyAttempts
from marketplace.models import Worker
from marketplace.pages.decorators import (
    WorkerRequest,
    account_required,
    get_or_post,
    once,
    see_other,
    worker_required,
)
from marketplace.pages.sessions import begin_session, in_language_of, is_lost_without_session
from marketplace.services import accounts
from marketplace.services.accounts import use_link
from marketplace.services.links import introduction_of, invitation_of_link, worker_of_link
from shared.requests import client_address

secret_fields = sensitive_post_parameters("password", "current")


@get_or_post
@secret_fields
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in with name and password. The page also lists the other ways to sign in."""
    target = request.POST.get("next") or request.GET.get("next", "")
    context: dict[str, Any] = {"next": target, "sign_up_is_open": settings.SIGN_UP_IS_OPEN}
    if request.method != "POST":
        return render(request, "marketplace/sign_in.html", context)
    name = request.POST.get("name", "").strip()
    try:
        worker = accounts.authenticate(
            name=name,
            password=request.POST.get("password", ""),
            address=client_address(request),
            at=clock.now(),
        )
    except (SignInRefused, TooManyAttempts) as error:
        context |= {"problem": str(error), "name": name}
        return render(request, "marketplace/sign_in.html", context, status=error.status)
    begin_session(request, worker)
    return HttpResponseRedirect(_safe_next(request, target), status=303)


def _safe_next(request: HttpRequest, target: str | None) -> str:
    """The target if it is a page of this site, else the list of HITs."""
    if target and url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return target
    return reverse("groups")


@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    try:
        worker = worker_of_link(token)
    except LinkRefused as error:
        return _refused(request, str(error))
    begin_session(request, worker)
    return redirect("groups")


@require_GET
def sso(request: HttpRequest) -> HttpResponse:
    """Sign in with a signed link of another site."""
    if not settings.SSO_SECRET:
        raise Http404("Single sign-on is not configured.")
    at = clock.now()
    try:
        introduction = introduction_of(request.GET, at=at)
        worker = accounts.worker_of_identity(
            source=accounts.SSO_SOURCE,
            identifier=introduction.identifier,
            country=introduction.country,
            address=client_address(request),
            at=at,
        )
        # A second click by the same worker does no harm.
        if request.worker != worker:  # type: ignore[attr-defined]
            use_link(signature=introduction.signature, expires_at=introduction.expires_at)
            begin_session(request, worker)
    except (LinkRefused, AccountRefused) as error:
        return _refused(request, str(error))
    except TooManyAttempts as error:
        return _refused(request, str(error), status=429)
    return HttpResponseRedirect(_safe_next(request, introduction.next_page))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session. A member who could not come back is told so first."""
    worker: Worker | None = request.worker  # type: ignore[attr-defined]
    if worker and "sure" not in request.POST and is_lost_without_session(worker):
        with in_language_of(worker):
            return render(request, "marketplace/people/sign_out.html")
    request.session.flush()
    return redirect("sign_in")


@get_or_post
@secret_fields
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account without an invitation, if the settings allow it."""
    if not settings.SIGN_UP_IS_OPEN:
        return _refused(
            request,
            "You need an invitation to create an account. Ask the marketplace's host for a link.",
        )
    return _sign_up(request)


@get_or_post
@secret_fields
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        invitation_id = invitation_of_link(token)
        if request.method != "POST":  # one that is used up may have made this form's account
            accounts.check_invitation(invitation_id=invitation_id, at=clock.now())
        return _sign_up(request, invitation_id)
    except LinkRefused as error:
        # Such as by a second click on the link.
        if request.method != "POST" and request.worker:  # type: ignore[attr-defined]
            return redirect("groups")
        return _refused(request, str(error))


def _sign_up(request: HttpRequest, invitation_id: int | None = None) -> HttpResponse:
    if request.method != "POST":
        return render(request, "marketplace/sign_up.html")
    fields = {name: request.POST.get(name, "") for name in ("name", "password", "country")}
    try:
        worker = accounts.sign_up(
            **fields,
            address=client_address(request),
            at=clock.now(),
            invitation_id=invitation_id,
        )
    except (AccountRefused, TooManyAttempts) as error:
        given = {"name": fields["name"], "country": fields["country"]}
        context = {**given, "problem": str(error), "field": getattr(error, "field", "")}
        return render(request, "marketplace/sign_up.html", context, status=error.status)
    begin_session(request, worker)
    messages.success(request, "Account created. You are signed in.")
    return see_other("groups")


@require_GET
@worker_required
def profile(request: WorkerRequest) -> HttpResponse:
    """Show the worker's profile, with forms to change it."""
    return render(request, "marketplace/profile.html")


@require_POST
@worker_required
@once(otherwise="profile")
def set_country(request: WorkerRequest) -> HttpResponse:
    """Set the worker's country. It can be set only once."""
    try:
        accounts.state_country(worker=request.worker, country=request.POST.get("country", ""))
    except AccountRefused as error:
        return _profile_problem(request, error)
    messages.success(request, "Country saved.")
    return see_other("profile")


@require_POST
@worker_required
def set_adult(request: WorkerRequest) -> HttpResponse:
    """Set whether the worker accepts HITs with adult content."""
    is_adult = request.POST.get("adult") == "1"
    accounts.set_adult(worker=request.worker, is_adult=is_adult)
    will = "will" if is_adult else "will not"
    messages.success(request, f"You {will} be offered HITs with adult content.")
    return see_other("profile")


@require_POST
@account_required
@secret_fields
def set_password(request: WorkerRequest) -> HttpResponse:
    """Change the password and end the other sessions."""
    try:
        worker = accounts.set_password(
            worker=request.worker,
            current=request.POST.get("current", ""),
            password=request.POST.get("password", ""),
            at=clock.now(),
        )
    except AccountRefused as error:
        return _profile_problem(request, error)
    except TooManyAttempts as error:
        return _refused(request, str(error), status=429)
    begin_session(request, worker)
    messages.success(request, _("Password saved. You are signed out on all other devices."))
    return see_other("profile")


@require_POST
@account_required
def sign_out_everywhere(request: WorkerRequest) -> HttpResponse:
    """End all of the worker's sessions, including this one."""
    accounts.end_all_sessions(worker=request.worker)
    request.session.flush()
    messages.success(request, _("You are signed out on all devices."))
    return redirect("sign_in")


def _profile_problem(request: WorkerRequest, error: AccountRefused) -> HttpResponse:
    context = {"problem": str(error), "field": error.field}
    page = "people/account" if request.worker.is_member else "profile"
    return render(request, f"marketplace/{page}.html", context, status=400)


def _refused(request: HttpRequest, problem: str, *, status: int = 403) -> HttpResponse:
    context = {"problem": problem, "sign_up_is_open": settings.SIGN_UP_IS_OPEN}
    return render(request, "marketplace/sign_in.html", context, status=status)
