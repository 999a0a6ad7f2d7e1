"""Who may see a page."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

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
            # Only a page that was looked at can be gone back to after signing in.
            wanted = request.get_full_path() if request.method == "GET" else ""
            query = f"?{urlencode({'next': wanted})}" if wanted not in ("", "/") else ""
            return redirect(reverse("sign_in") + query)
        return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped
