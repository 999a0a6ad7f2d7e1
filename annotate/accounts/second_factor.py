"""The page on which users set up an authenticator app, and the form that asks for its codes."""

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from annotate.errors import DomainError
from annotate.models import SecondFactor
from annotate.pages.signed_in import posted, user_of
from annotate.services import second_factors

# The session's key of the secret that a user is setting up.
SECRET = "second_factor_secret"
ONE_TIME = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}


class SignInForm(AuthenticationForm):
    """Name, password, and the code of an authenticator app."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "Name, password or code is wrong. If your account has an authenticator "
        "app, enter the code that it shows now, or a recovery code.",
    }
    code = forms.CharField(
        required=False,
        max_length=40,
        label="Code of your authenticator app",
        help_text="Only if you have set one up. A recovery code works once in its place.",
        widget=forms.TextInput(attrs=ONE_TIME),
    )

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if given.get("username") and given.get("password"):
            user = authenticate(
                self.request,
                username=given["username"],
                password=given["password"],
                code=given.get("code", ""),
            )
            if user is None:
                raise self.get_invalid_login_error()
            self.user_cache = user
            self.confirm_login_allowed(user)
        return given


class CodeForm(forms.Form):
    """A code of the app."""

    code = forms.CharField(max_length=40, widget=forms.TextInput(attrs=ONE_TIME))


@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set up an authenticator app, make new recovery codes, or remove the app."""
    user, form, codes = user_of(request), CodeForm(posted(request)), []
    if request.method == "POST" and form.is_valid():
        try:
            codes = _act(request, user, form.cleaned_data["code"])
        except DomainError as error:
            form.add_error("code", str(error))
        else:
            if not codes:
                messages.success(request, "Removed. You sign in by your password alone now.")
                return redirect("account:second_factor")
            form = CodeForm()
    factor = SecondFactor.objects.filter(user=user).first()
    context: dict[str, Any] = {"factor": factor, "form": form, "codes": codes}
    if factor:
        context["unused"] = factor.recovery_codes.filter(used_at=None).count()
    else:
        context |= _setup(request, user)
    status = 422 if form.errors else 200
    return render(request, "annotate/second_factor.html", context, status=status)


def _act(request: HttpRequest, user: User, code: str) -> list[str]:
    """Do what the pressed button says; return new recovery codes, none after a removal."""
    given: dict[str, Any] = {"user": user, "code": code, "at": timezone.now()}
    if "remove" in request.POST:
        second_factors.remove_second_factor(**given)
        return []
    if "codes" in request.POST:
        return second_factors.replace_recovery_codes(**given)
    codes = second_factors.add_second_factor(secret=_secret(request), **given)
    del request.session[SECRET]
    return codes


def _setup(request: HttpRequest, user: User) -> dict[str, Any]:
    secret = _secret(request)
    address = second_factors.address_for_app(user=user, secret=secret)
    # On a white ground, so that cameras read it in the dark theme, too.
    qr = segno.make(address, micro=False).svg_data_uri(scale=5, border=3, light="white")
    return {"qr": qr, "secret": " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))}


def _secret(request: HttpRequest) -> str:
    """The key that is being set up: the same one until it is confirmed, also after a reload."""
    return str(request.session.setdefault(SECRET, second_factors.new_secret()))
