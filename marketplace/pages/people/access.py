"""Who may open the pages for people (members of groups), and errors in their words."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplace.errors import AssignmentClosed, DomainError, NothingToAccept, NotQualified
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


SENTENCES: dict[type[DomainError], str] = {
    NothingToAccept: gettext_noop("There are no tasks for you at the moment. Look again later."),
    NotQualified: gettext_noop("You cannot get a task now. Ask the person who invited you."),
    AssignmentClosed: gettext_noop(
        "This task is closed: it was sent or returned before, or its time is over. Nothing was "
        "changed."
    ),
}


def plainly(error: DomainError) -> str:
    """The error's sentence for people; its own message if that is written for them."""
    sentence = SENTENCES.get(type(error))
    return _(sentence) if sentence else str(error)
