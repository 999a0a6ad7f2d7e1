"""Who may see a page."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from marketplace.models import Worker

Rest = ParamSpec("Rest")


class WorkerRequest(HttpRequest):
    """A request of a signed-in worker."""

    worker: Worker


def worker_required(
    view: Callable[Concatenate[WorkerRequest, Rest], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponse]:
    """Send a visitor who is not signed in to the sign-in page."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        if not request.worker:  # type: ignore[attr-defined]
            return redirect("sign_in")
        return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped
