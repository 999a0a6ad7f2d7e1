"""Who may open the pages for people: members of groups, and nobody else."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from marketplace.models import Membership, Worker
from marketplace.pages.decorators import to_sign_in
from marketplace.pages.languages import in_language_of
from marketplace.pages.problems import outside_study
from marketplace.pages.sessions import scope_of

Rest = ParamSpec("Rest")


class MemberRequest(HttpRequest):
    """A request of a signed-in member."""

    worker: Worker


def member_required(
    view: Callable[Concatenate[MemberRequest, Rest], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Rest], HttpResponse]:
    """Redirect to the sign-in page unless a member is signed in; other workers to their own pages.

    Participants of studies get a 404.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        scope = scope_of(request)
        if scope is None:
            return to_sign_in(request)
        with in_language_of(scope.worker, scope.participation):
            if scope.participation is not None:
                return outside_study(request, scope.participation.study)
            if not scope.worker.is_member:
                return redirect("groups")
            return view(request, *args, **kwargs)  # type: ignore[arg-type]

    return wrapped


def memberships_of(worker: Worker) -> list[Membership]:
    """The member's groups, the latest first."""
    mine = Membership.objects.filter(worker=worker)
    return list(mine.select_related("group", "worker").order_by("-pk"))
