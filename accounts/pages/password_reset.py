"""Set a new password by a link, which the site sends by e-mail or an operator makes."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.views import (
    PasswordResetConfirmView,
    PasswordResetDoneView,
    PasswordResetView,
)
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator

from accounts.request_limits import is_over, limit_posts
from shared.mail import sends_email

MAILS_PER_HOUR = 3
# Mails are sent apart from the request, so that its time does not tell whether there is an account.
mails = ThreadPoolExecutor(1, "password-reset")


class ResetForm(PasswordResetForm):
    """Sends a link to each account with this address, at most MAILS_PER_HOUR, without a word."""

    def save(self, *arguments: Any, **options: Any) -> None:
        if not is_over(f"reset of {self.cleaned_data['email'].lower()}", MAILS_PER_HOUR):
            super().save(*arguments, **options)

    def send_mail(self, *arguments: Any, **options: Any) -> None:
        mails.submit(super().send_mail, *arguments, **options)


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
