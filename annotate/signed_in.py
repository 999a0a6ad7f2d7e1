"""Who is signed in, on pages that only the signed-in see."""

from django.contrib.auth.models import User
from django.http import HttpRequest


def user_of(request: HttpRequest) -> User:
    """The signed-in user. LoginRequiredMiddleware lets nobody else reach such a page."""
    user = request.user
    assert user.is_authenticated
    return user
