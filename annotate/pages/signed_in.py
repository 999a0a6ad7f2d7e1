"""What the signed-in pages ask of a request: who it is from, and what was posted."""

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict


def user_of(request: HttpRequest) -> User:
    """The signed-in user. LoginRequiredMiddleware lets nobody else reach such a page."""
    user = request.user
    assert user.is_authenticated
    return user


def posted(request: HttpRequest) -> QueryDict | None:
    """The posted fields, also if there are none; None for a request that only reads."""
    return request.POST if request.method == "POST" else None
