"""Decorators that restrict pages to workers and participants."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from marketplace.models import Worker

from .problems import outside_study
from .sessions import Scope, scope_of

Rest = ParamSpec("Rest")
LONGEST_ADDRESS = 2000


class WorkerRequest(HttpRequest):
    """A request of a signed-in worker."""

    worker: Worker


class ScopedRequest(HttpRequest):
    """A request of a signed-in worker or of a participant in a study."""

    scope: Scope


def worker_required(
    view: Callable[Concatenate[WorkerRequest, Rest], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponse]:
    """Redirect to the sign-in page unless a worker is signed in; participants get a 404."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        scope = scope_of(request)
        if scope is None:
            return _to_sign_in(request)
        if scope.participation is not None:
            return outside_study(request, scope.participation.study)
        return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped


def scope_required(
    view: Callable[Concatenate[ScopedRequest, Rest], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponse]:
    """Allow workers and participants; the view must limit itself to `request.scope`."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        scope = scope_of(request)
        if scope is None:
            return _to_sign_in(request)
        request.scope = scope  # type: ignore[attr-defined]
        return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    # Only pages requested with GET can be opened again after signing in.
    wanted = request.get_full_path() if request.method == "GET" else ""
    if len(wanted) > LONGEST_ADDRESS:
        wanted = ""
    query = f"?{urlencode({'next': wanted})}" if wanted not in ("", "/") else ""
    return redirect(reverse("sign_in") + query)
