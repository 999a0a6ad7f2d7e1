"""The operators' sign-in and their accounts: password, authenticator app, list of operators."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.core.signing import BadSignature
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import url_has_allowed_host_and_scheme, urlsafe_base64_encode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from marketplace import clock
from marketplace.errors import DomainError, TooManyAttempts
from marketplace.operator.base import (
    OperatorRequest,
    form_page,
    logged,
    logged_with_message,
    operator_page,
)
from marketplace.operator.forms import OperatorForm, SignInForm
from marketplace.pages.decorators import get_or_post
from marketplace.services import operators as services
from marketplace.services.accounts import count_attempt
from marketplace.services.operators import noted
from shared.hand_over import new_state, read
from shared.requests import HEADER, client_address, content_policy
from shared.second_factors.models import SecondFactor
from shared.second_factors.pages import SecondFactorView
from shared.second_factors.services import has_second_factor

DAY = 24 * 3600
MOST_TRIES = 10
# The session's key of the state, and the page to go to, while the requester site is asked.
ASKED = "hand_over"
# Long enough to sign in there.
ASKED_FOR = timedelta(minutes=30)


@get_or_post
def sign_in(request: HttpRequest) -> HttpResponse:
    form = SignInForm(request.POST or None)
    problem, status = "", 200
    if form.is_valid():
        try:
            attempts = [
                count_attempt(what="operator", who=who, most=MOST_TRIES, at=timezone.now())
                for who in (
                    f"name:{form.cleaned_data['name']}",
                    f"address:{client_address(request)}",
                )
            ]
        except TooManyAttempts as error:
            problem, status = str(error), 429
        else:
            operator = form.operator()
            if operator is not None:
                for attempt in attempts:
                    attempt.delete()
                request.session.flush()
                login(request, operator)
                return HttpResponseRedirect(_next_page(request))
            problem, status = "Wrong name, password or code.", 403
    context = {"form": form, "problem": problem, **_site(request)}
    return render(request, "marketplace/operator/sign_in.html", context, status=status)


@never_cache
@require_GET
def hand_over(request: HttpRequest) -> HttpResponse:
    """Ask the requester site who is signed in there; what is asked stays in the session."""
    if not settings.HAND_OVER_SECRET:
        return redirect("operator:sign_in")
    page, state = _next_page(request), new_state()
    if request.user.is_active and request.user.is_staff:
        return HttpResponseRedirect(page)
    if not request.session.session_key:
        request.session.set_expiry(ASKED_FOR)
    request.session[ASKED] = [state, page]
    return redirect(f"{settings.SITE_URL}/hand-over/?{urlencode({'state': state})}")


@never_cache
@require_GET
def end_hand_over(request: HttpRequest) -> HttpResponse:
    """Sign in whom the requester site names, if this session has asked it."""
    state, page = request.session.pop(ASKED, ("", ""))
    try:
        user = read(request.GET.get("text", ""), to=settings.MARKETPLACE_URL, state=state)
        with noted(
            actor=f"user {user.name}",
            action="came from the requester site",
            about="",
            at=clock.now(),
        ):
            operator = services.operator_of(user)
    except BadSignature:
        problem = "This link has been used, or is too old. Try again from the requester site."
    except DomainError as error:
        problem = str(error)
    else:
        request.session.flush()
        login(request, operator, backend=settings.AUTHENTICATION_BACKENDS[0])
        request.session.set_expiry(settings.HAND_OVER_SESSION_AGE)
        return HttpResponseRedirect(page)
    context = {"form": SignInForm(), "problem": problem, **_site(request)}
    return render(request, "marketplace/operator/sign_in.html", context, status=403)


def _site(request: HttpRequest) -> dict[str, str]:
    """The link of the sign-in page to the requester site, if there is one."""
    if not settings.HAND_OVER_SECRET:
        return {}
    return {
        "hand_over": f"{reverse('operator:hand_over')}?{urlencode({'next': _next_page(request)})}"
    }


def _next_page(request: HttpRequest) -> str:
    """The operator's page that was asked for before the sign-in, or the overview."""
    page = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(
        page, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return page
    return reverse("operator:overview")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("operator:sign_in")


class PasswordView(PasswordChangeView):
    """Changes the operator's password, given the current one. Their other sessions end.

    Users who came from the requester site and have no password set one.
    """

    template_name = "marketplace/operator/password.html"
    success_url = reverse_lazy("operator:password")
    request: OperatorRequest

    def get_form_class(self) -> "type[SetPasswordForm[User]]":
        return PasswordChangeForm if self.request.user.has_usable_password() else SetPasswordForm

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        did = "changed" if isinstance(form, PasswordChangeForm) else "set"
        with logged(self.request, f"{did} their password", ""):
            response = super().form_valid(form)
        messages.success(
            self.request, f"Password {did}. Your sessions in other browsers have ended."
        )
        return response

    def form_invalid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=400)

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        return super().get_context_data(factor=has_second_factor(self.request.user), **given)


class AppView(SecondFactorView):
    """Sets up an authenticator app, makes new recovery codes, or removes the app."""

    template_name = "marketplace/operator/second_factor.html"
    issuer = "Marketplace admin"
    request: OperatorRequest

    def act(self, user: User, code: str) -> list[str]:
        actions = {
            "remove": "removed their authenticator app",
            "codes": "made new recovery codes",
        }
        pressed = next((name for name in actions if name in self.request.POST), "")
        with logged(self.request, actions.get(pressed, "set up an authenticator app"), ""):
            return super().act(user, code)

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        response = super().render_to_response(context, **options)
        # The QR code is part of the page.
        response.headers[HEADER] = content_policy(img_src="'self' data:")
        return response


class NewPasswordView(PasswordResetConfirmView):
    """Sets the first password of a new operator, by the link of the page of operators."""

    template_name = "marketplace/operator/new_password.html"
    success_url = reverse_lazy("operator:sign_in")

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        messages.success(self.request, "Your password is set. Sign in with it.")
        return response


@operator_page("GET", "POST")
def operators(request: OperatorRequest) -> HttpResponse:
    """List the operators; add one on POST, and show the link with which they set a password."""
    form, added, link = OperatorForm(request.POST or None), "", ""
    if form.is_valid():
        name = form.cleaned_data["name"]
        try:
            with logged(request, "added an operator", name):
                made = services.add_operator(name=name)
        except DomainError as error:
            form.add_error("name", str(error))
        else:
            form, added, link = OperatorForm(), name, _password_link(made)
    has_app = Exists(SecondFactor.objects.filter(user=OuterRef("pk")))
    context = {
        "operators": services.all_operators()
        .select_related("site_account")
        .annotate(has_app=has_app)
        .order_by("username"),
        "hands_over": bool(settings.HAND_OVER_SECRET),
        "same_names": settings.HAND_OVER_OPERATORS,
        "form": form,
        "added": added,
        "link": link,
        "days": settings.PASSWORD_RESET_TIMEOUT // DAY,
    }
    return form_page(request, "operators.html", context)


def _password_link(operator: User) -> str:
    """It works until the password is set, at most for PASSWORD_RESET_TIMEOUT."""
    key = urlsafe_base64_encode(force_bytes(operator.pk))
    token = default_token_generator.make_token(operator)
    return settings.MARKETPLACE_URL + reverse("operator:new_password", args=[key, token])


@operator_page("POST")
def site_account(request: OperatorRequest, pk: int) -> HttpResponse:
    """Let an account of the requester site sign in as an operator, or nobody."""
    operator = get_object_or_404(services.all_operators(), pk=pk)
    name = request.POST.get("name", "").replace("\0", "").strip()[:150]
    success = (
        f"{name} of the requester site signs in here as {operator}."
        if name
        else f"Nobody of the requester site signs in as {operator}."
    )
    action = "allowed a sign-in from the requester site"
    about = f"{operator}: {name or 'nobody'}"
    with logged_with_message(request, action, about, success):
        services.set_site_account(operator=operator, name=name)
    return redirect("operator:operators")


@operator_page("POST")
def remove_operator(request: OperatorRequest, pk: int) -> HttpResponse:
    """Remove another operator; their sessions end."""
    operator = get_object_or_404(services.all_operators(), pk=pk)
    name = operator.get_username()
    with logged_with_message(request, "removed an operator", name, f"Operator {name} removed."):
        services.remove_operator(operator=operator, actor=request.user)
    return redirect("operator:operators")
