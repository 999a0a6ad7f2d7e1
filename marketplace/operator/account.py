"""The operators' own accounts: password, authenticator app, and the list of operators."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.views.decorators.http import require_http_methods, require_POST

from marketplace.errors import DomainError
from marketplace.services import operators as services
from shared.content_policy import HEADER, content_policy
from shared.second_factors.models import SecondFactor
from shared.second_factors.pages import SecondFactorView
from shared.second_factors.services import has_second_factor

from .access import OperatorRequest, logged, logged_with_message, operator_required
from .forms import OperatorForm

DAY = 24 * 3600


class PasswordView(PasswordChangeView):
    """Changes the operator's password, given the current one. Their other sessions end."""

    template_name = "marketplace/operator/password.html"
    success_url = reverse_lazy("operator:password")
    request: OperatorRequest

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        with logged(self.request, "changed their password", ""):
            response = super().form_valid(form)
        messages.success(
            self.request, "Password changed. Your sessions in other browsers have ended."
        )
        return response

    def form_invalid(self, form: PasswordChangeForm) -> HttpResponse:
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


@require_http_methods(["GET", "POST"])
@operator_required
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
    status = 400 if form.errors else 200
    return render(request, "marketplace/operator/operators.html", context, status=status)


def _password_link(operator: User) -> str:
    """It works until the password is set, at most for PASSWORD_RESET_TIMEOUT."""
    key = urlsafe_base64_encode(force_bytes(operator.pk))
    token = default_token_generator.make_token(operator)
    return settings.MARKETPLACE_URL + reverse("operator:new_password", args=[key, token])


@require_POST
@operator_required
def site_account(request: OperatorRequest, pk: int) -> HttpResponse:
    """Let an account of the requester site sign in as an operator, or nobody."""
    operator = get_object_or_404(services.all_operators(), pk=pk)
    name = request.POST.get("name", "").strip()[:150]
    done = (
        f"{name} of the requester site signs in here as {operator}."
        if name
        else f"Nobody of the requester site signs in as {operator}."
    )
    action = "allowed a sign-in from the requester site"
    about = f"{operator}: {name or 'nobody'}"
    with logged_with_message(request, action, about, done):
        services.set_site_account(operator=operator, name=name)
    return redirect("operator:operators")


@require_POST
@operator_required
def remove_operator(request: OperatorRequest, pk: int) -> HttpResponse:
    """Remove another operator; their sessions end."""
    other = get_object_or_404(services.all_operators(), pk=pk)
    name = other.get_username()
    with logged_with_message(request, "removed an operator", name, f"Operator {name} removed."):
        services.remove_operator(operator=other, actor=request.user)
    return redirect("operator:operators")
