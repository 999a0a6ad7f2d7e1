"""The user and the posted data of a request, and the errors that its page shows."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from corpora.errors import DomainError


def user_of(request: HttpRequest) -> User:
    """The signed-in user. SignInMiddleware redirects all others."""
    user = request.user
    assert user.is_authenticated
    return user


def posted(request: HttpRequest) -> QueryDict | None:
    """The posted fields, even if empty; None unless the method is POST."""
    return request.POST if request.method == "POST" else None


def form_page(
    request: HttpRequest, template: str, form: Form, context: Mapping[str, Any] | None = None
) -> HttpResponse:
    """The page with this form, which has status 422 if the form has errors."""
    status = 422 if form.errors else 200
    return render(request, template, {**(context or {}), "form": form}, status=status)


def decided(request: HttpRequest, form: Form, decide: Callable[[str], str]) -> bool:
    """Whether the request sends a valid form. If so, call `decide` with the form's reason and show
    the message that it returns, or the error that it raises."""
    if request.method != "POST" or not form.is_valid():
        return False
    with refusals_shown(request):
        messages.success(request, decide(form.cleaned_data["reason"]))
    return True


@contextmanager
def refusals_shown(request: HttpRequest) -> Iterator[None]:
    """Show a DomainError of the block, and go on after it."""
    try:
        yield
    except DomainError as error:
        messages.warning(request, str(error))


@contextmanager
def refusals_in(form: Form, field: str | None = None) -> Iterator[None]:
    """Add a DomainError of the block to the form, and go on after it."""
    try:
        yield
    except DomainError as error:
        form.add_error(field, str(error))
