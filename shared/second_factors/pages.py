"""The page on which users set up an authenticator app, make recovery codes, and remove the app."""

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import TemplateView

from shared.second_factors import services
from shared.second_factors.models import SecondFactor

ONE_TIME = {"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}


class CodeForm(forms.Form):
    """A code of the app."""

    code = forms.CharField(max_length=40, widget=forms.TextInput(attrs=ONE_TIME))


class SignInCodeForm(forms.Form):
    """The last field of a site's sign-in form."""

    code = forms.CharField(
        required=False,
        max_length=40,
        label="Code of your authenticator app",
        help_text="Only if you have set one up. A recovery code works once in its place.",
        widget=forms.TextInput(attrs=ONE_TIME),
    )


# The session's key of the secret that a user is setting up.
SECRET = "second_factor_secret"


@method_decorator([sensitive_post_parameters("code"), never_cache], name="dispatch")
class SecondFactorView(TemplateView):
    """The page of a signed-in user. Each site names its template, and itself as the issuer that the
    app shows."""

    issuer = ""

    def post(self, request: HttpRequest) -> HttpResponse:
        form, codes = CodeForm(request.POST), []
        if form.is_valid():
            try:
                codes = self.act(_user_of(request), form.cleaned_data["code"])
            except services.CodeRefused as error:
                form.add_error("code", str(error))
            else:
                if not codes:
                    messages.success(request, "Removed. You sign in by your password alone now.")
                    return redirect(request.path)
                form = CodeForm()
        context = self.get_context_data(form=form, codes=codes)
        return self.render_to_response(context, status=422 if form.errors else 200)

    def act(self, user: User, code: str) -> list[str]:
        """Do what the pressed button says; return new recovery codes, none after a removal.

        Raises CodeRefused.
        """
        given: dict[str, Any] = {"user": user, "code": code, "at": timezone.now()}
        if "remove" in self.request.POST:
            services.remove_second_factor(**given)
            return []
        if "codes" in self.request.POST:
            return services.replace_recovery_codes(**given)
        codes = services.add_second_factor(secret=self._secret(), **given)
        del self.request.session[SECRET]
        return codes

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        user = _user_of(self.request)
        factor = SecondFactor.objects.filter(user=user).first()
        context = super().get_context_data(**{"form": CodeForm(), "factor": factor, **given})
        if factor:
            return {**context, "unused": factor.recovery_codes.filter(used_at=None).count()}
        return {**context, **self._setup(user)}

    def _setup(self, user: User) -> dict[str, Any]:
        secret = self._secret()
        address = services.address_for_app(user=user, secret=secret, issuer=self.issuer)
        # On a white ground, so that cameras read it in the dark theme, too.
        qr = segno.make(address, micro=False).svg_data_uri(scale=5, border=3, light="white")
        return {"qr": qr, "secret": " ".join(secret[n : n + 4] for n in range(0, len(secret), 4))}

    def _secret(self) -> str:
        """The key that is being set up: the same until it is confirmed, also after a reload."""
        return str(self.request.session.setdefault(SECRET, services.new_secret()))


def _user_of(request: HttpRequest) -> User:
    """The signed-in user. Each site redirects all others."""
    assert isinstance(request.user, User)
    return request.user
