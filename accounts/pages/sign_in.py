"""Sign in, choose a name, and set a new password by a link."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, PasswordResetForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.contrib.auth.views import (
    PasswordResetConfirmView,
    PasswordResetDoneView,
    PasswordResetView,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_variables

from accounts.limits import is_over, limit_posts
from shared.mail import sends_email, with_ascii_domain
from shared.second_factors.pages import SignInCodeForm


class SignInForm(SignInCodeForm, AuthenticationForm):
    """Name, password, and the code of an authenticator app."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "Name, password or code is wrong. If your account has an authenticator "
        "app, enter the code that it shows now, or a recovery code.",
    }

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


class NewAccountForm(forms.Form):
    """The name and the password of a new account."""

    # Only ASCII letters: those of other scripts look like them, so that a name could pass for
    # another person's.
    name = forms.CharField(
        max_length=150,
        label="User name",
        validators=[ASCIIUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("password"):
            try:
                validate_password(values["password"], User(username=values.get("name", "")))
            except forms.ValidationError as error:
                self.add_error("password", error)
        return values


MAILS_PER_HOUR = 3
# Mails are sent apart from the request, so that its time does not tell whether there is an account.
mails = ThreadPoolExecutor(1, "password-reset")


class ResetForm(PasswordResetForm):
    """Sends a link to each account with this address, at most MAILS_PER_HOUR, without a word."""

    def save(self, *arguments: Any, **options: Any) -> None:
        if not is_over(f"reset of {self.cleaned_data['email'].lower()}", MAILS_PER_HOUR):
            super().save(*arguments, **options)

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        mails.submit(
            super().send_mail,
            subject_template_name,
            email_template_name,
            context,
            from_email,
            with_ascii_domain(to_email),
            html_email_template_name,
        )


class _NeedsMail:
    """There is no such page on a site that sends no e-mail."""

    def dispatch(self, request: HttpRequest, *arguments: Any, **options: Any) -> HttpResponseBase:
        if not sends_email():
            raise Http404("This site sends no e-mail.")
        return super().dispatch(request, *arguments, **options)  # type: ignore[misc, no-any-return]


@method_decorator([login_not_required, limit_posts], name="dispatch")
class ForgottenView(_NeedsMail, PasswordResetView):
    """Asks for an e-mail address and sends a link to it. The answer is the same for any address."""

    form_class = ResetForm
    template_name = "accounts/forgotten.html"
    email_template_name = "accounts/forgotten_mail.txt"
    subject_template_name = "accounts/forgotten_subject.txt"
    success_url = reverse_lazy("password_reset_done")

    @property
    def extra_email_context(self) -> dict[str, Any]:
        # Not the request's host, which the sender of the request chooses.
        return {"site": settings.SITE_URL, "hours": settings.PASSWORD_RESET_TIMEOUT // 3600}


@method_decorator(login_not_required, name="dispatch")
class SentView(_NeedsMail, PasswordResetDoneView):
    """Says that a link was sent if there is an account."""

    template_name = "accounts/forgotten_sent.html"


@method_decorator([login_not_required, limit_posts], name="dispatch")
class NewPasswordView(PasswordResetConfirmView):
    """Sets a new password. The link works once, and ends when the password or last sign-in
    changes."""

    template_name = "accounts/new_password.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        messages.success(self.request, "Your new password is set. Sign in with it.")
        return answer
