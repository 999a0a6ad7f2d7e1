"""Sign-in by name, password and, for accounts with an authenticator app, its code."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from shared.second_factors.services import has_second_factor, is_right_code


class PasswordAndCode(ModelBackend):
    """Refuses accounts with a second factor without its code: on pages, in the API and the admin.

    A wrong code counts as a wrong password, too, in the limits that each site has.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        code: str = "",
        **options: Any,
    ) -> User | None:
        user = super().authenticate(request, username=username, password=password, **options)
        if not isinstance(user, User) or not has_second_factor(user):
            return user if isinstance(user, User) else None
        is_right = is_right_code(user=user, code=code, at=timezone.now())
        return user if is_right else None
