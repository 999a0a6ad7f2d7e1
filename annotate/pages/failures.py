"""The page of background work that failed for good: try it again, or dismiss it."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotate.celery import app
from annotate.errors import DomainError
from annotate.failures import end_failure
from annotate.jobs.requests import request_job, run_again
from annotate.models import Delivery, DeliveryStatus, Failure, FailureSource, Job, Right
from annotate.models.failures import FailureQuerySet
from annotate.pages.paging import page_of
from annotate.pages.signed_in import current_team, require, user_of
from annotate.site.background import hand_on
from annotate.tasks import announce_job


def open_failures(request: HttpRequest) -> FailureQuerySet:
    """The open failures of the current team, and for operators those of the site."""
    own = Failure.objects.open().of_team(current_team(request))
    if user_of(request).is_superuser:
        return own | Failure.objects.open().filter(team=None)
    return own


@require_safe
def failures(request: HttpRequest) -> HttpResponse:
    """List what failed for good, the latest first."""
    rows = open_failures(request).select_related("campaign")
    return render(request, "jobs/failures.html", {"page": page_of(rows, request, per_page=30)})


@require_POST
def try_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the work again. The failure is over; if the work fails again, there is a new one."""
    found = _failure(request, pk)
    try:
        with transaction.atomic():
            end_failure(failure=found, by=user_of(request), at=timezone.now())
            AGAIN[FailureSource(found.source)](found, user_of(request))
    except DomainError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, f"“{found}” is tried again.")
    return redirect("jobs:failures")


@require_POST
def dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a failure off the list. Nothing else changes."""
    found = _failure(request, pk)
    try:
        end_failure(failure=found, by=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.info(request, str(error))
    return redirect("jobs:failures")


def _failure(request: HttpRequest, pk: int) -> Failure:
    """A failure of one of the user's teams, or for operators of the site; raises Http404 and
    PermissionDenied."""
    rows = Failure.objects.visible_to(user_of(request)).select_related("team", "campaign")
    found = get_object_or_404(rows, pk=pk)
    if found.team:
        require(request, found.team, Right.MANAGE)
    elif not user_of(request).is_superuser:
        raise PermissionDenied("Only operators of this site may do this.")
    return found


def _job_again(failure: Failure, user: User) -> None:
    run_again(job=Job.objects.get(key=failure.subject), user=user, at=timezone.now())
    transaction.on_commit(announce_job)


def _sync_again(failure: Failure, user: User) -> None:
    at = timezone.now()
    request_job(kind="sync", arguments={}, campaign=failure.campaign, user=user, at=at)
    transaction.on_commit(announce_job)


def _task_again(failure: Failure, _user: User) -> None:
    task = app.tasks.get(failure.arguments["task"])
    if task is None:
        raise DomainError("This version of the site has no such task. Dismiss the failure.")
    if not hand_on(task, *failure.arguments["args"], **failure.arguments["kwargs"]):
        raise DomainError("The broker does not answer. Try again when it does.")


def _delivery_again(failure: Failure, _user: User) -> None:
    rows = Delivery.objects.filter(key=failure.subject, status=DeliveryStatus.GIVEN_UP)
    values = {"attempts": 0, "ended_at": None, "due_at": timezone.now(), "run": None}
    if not rows.update(status=DeliveryStatus.WAITING, **values):
        raise DomainError("This notice is no longer given up, or was deleted.")


AGAIN: dict[FailureSource, Callable[[Failure, User], None]] = {
    FailureSource.JOB: _job_again,
    FailureSource.SYNC: _sync_again,
    FailureSource.TASK: _task_again,
    FailureSource.DELIVERY: _delivery_again,
}
