"""Typed access to the user and the posted data of a request."""

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict


def user_of(request: HttpRequest) -> User:
    """The signed-in user. LoginRequiredMiddleware redirects all others."""
    user = request.user
    assert user.is_authenticated
    return user


def posted(request: HttpRequest) -> QueryDict | None:
    """The posted fields, even if empty; None unless the method is POST."""
    return request.POST if request.method == "POST" else None
