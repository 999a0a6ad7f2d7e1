"""The user and the posted data of a request."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpRequest, QueryDict

from annotate.errors import DomainError


def user_of(request: HttpRequest) -> User:
    """The signed-in user. LoginRequiredMiddleware redirects all others."""
    user = request.user
    assert user.is_authenticated
    return user


def posted(request: HttpRequest) -> QueryDict | None:
    """The posted fields, even if empty; None unless the method is POST."""
    return request.POST if request.method == "POST" else None


def decided(request: HttpRequest, form: Form, decide: Callable[[str], str]) -> bool:
    """Whether the request sends a valid form. If so, call `decide` with the form's reason and show
    the message that it returns, or the error that it raises."""
    if request.method != "POST" or not form.is_valid():
        return False
    try:
        messages.success(request, decide(form.cleaned_data["reason"]))
    except DomainError as error:
        messages.warning(request, str(error))
    return True
