"""The form for signing in."""

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.views.decorators.debug import sensitive_variables

from shared.second_factors.forms import SignInCodeForm


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
