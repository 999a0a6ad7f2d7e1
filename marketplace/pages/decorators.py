"""Decorators that restrict pages to workers and participants."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from marketplace.models import Worker

from .languages import in_language_of
from .problems import outside_study
from .sessions import Scope, scope_of

Rest = ParamSpec("Rest")
LONGEST_ADDRESS = 2000
# Where a member of a group finds what these pages of workers show. Every other page leads home.
MEMBERS_PAGES = {
    "assignment": "people_task",
    "earnings": "people_done",
    "messages": "people_messages",
    "profile": "people_account",
}


class WorkerRequest(HttpRequest):
    """A request of a signed-in worker."""

    worker: Worker


class ScopedRequest(HttpRequest):
    """A request of a signed-in worker or of a participant in a study."""

    scope: Scope


def worker_required(
    view: Callable[Concatenate[WorkerRequest, Rest], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]:
    """Redirect to the sign-in page unless a worker is signed in; participants get a 404.

    Members of groups are led to their own pages.
    """

    @wraps(view)
    def wrapped(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        scope = scope_of(request)
        if scope is None:
            return to_sign_in(request)
        if scope.worker.is_member:
            return to_members_page(request)
        if scope.participation is not None:
            with in_language_of(scope.worker, scope.participation):
                return outside_study(request, scope.participation.study)
        return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped


def scope_required(
    view: Callable[Concatenate[ScopedRequest, Rest], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]:
    """Allow workers and participants; the view must limit itself to `request.scope`.

    Members of groups are led to their own pages.
    """

    @wraps(view)
    def wrapped(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        scope = scope_of(request)
        if scope is None:
            return to_sign_in(request)
        if scope.worker.is_member:
            return to_members_page(request)
        request.scope = scope  # type: ignore[attr-defined]
        with in_language_of(scope.worker, scope.participation):
            return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped


def account_required(
    view: Callable[Concatenate[WorkerRequest, Rest], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponseBase]:
    """Allow workers and members of groups: both have accounts."""
    for_workers = worker_required(view)

    @wraps(view)
    def wrapped(
        request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> HttpResponseBase:
        scope = scope_of(request)
        if scope is not None and scope.worker.is_member:
            with in_language_of(scope.worker):
                return view(request, *args, **kwargs)  # type: ignore[arg-type]
        return for_workers(request, *args, **kwargs)

    return wrapped


def to_members_page(request: HttpRequest) -> HttpResponse:
    """Redirect a member from a page of workers to their own page with the same contents."""
    match = request.resolver_match
    name = MEMBERS_PAGES.get(match.url_name or "", "") if match else ""
    if request.method not in ("GET", "HEAD") or match is None or not name:
        return HttpResponseRedirect(reverse("people_home"), status=303)
    page: HttpResponse = redirect(name, **match.kwargs)
    return page


def to_sign_in(request: HttpRequest) -> HttpResponse:
    # Only pages requested with GET can be opened again after signing in.
    wanted = request.get_full_path() if request.method == "GET" else ""
    if len(wanted) > LONGEST_ADDRESS:
        wanted = ""
    query = f"?{urlencode({'next': wanted})}" if wanted not in ("", "/") else ""
    return redirect(reverse("sign_in") + query)
