"""The page of background work that failed for good: try it again, or dismiss it."""

from collections.abc import Callable

from celery import current_app
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Right
from accounts.pages.paging import page_of
from accounts.pages.signed_in import current_team, require, user_of
from background.celery_tasks import hand_on
from background.failures import end_failure
from background.jobs.requests import request_job, run_again
from background.models import Delivery, DeliveryStatus, Failure, FailureSource, Job
from background.models.failures import FailureQuerySet
from background.tasks import announce_job
from corpora.errors import DomainError


def open_failures(request: HttpRequest) -> FailureQuerySet:
    """The open failures of the current team, and for operators those of the site."""
    own = Failure.objects.open().of_team(current_team(request))
    if user_of(request).is_superuser:
        return own | Failure.objects.open().filter(team=None)
    return own


@require_safe
def failures(request: HttpRequest) -> HttpResponse:
    """List what failed for good, the latest first."""
    rows = open_failures(request).prefetch_related("about")
    return render(
        request, "background/failures.html", {"page": page_of(rows, request, per_page=30)}
    )


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
    rows = Failure.objects.visible_to(user_of(request)).select_related("team")
    found = get_object_or_404(rows, pk=pk)
    if found.team:
        require(request, found.team, Right.MANAGE)
    elif not user_of(request).is_superuser:
        raise PermissionDenied("Only operators of this site may do this.")
    return found


def _job_again(failure: Failure, user: User) -> None:
    job = Job.objects.filter(key=failure.subject).first()
    if job is None:
        raise DomainError(
            "The job was deleted, because it is old. Dismiss the failure, and request the work "
            "again on its own page."
        )
    run_again(job=job, user=user, at=timezone.now())
    announce_job()


def _sync_again(failure: Failure, user: User) -> None:
    at = timezone.now()
    request_job(kind="sync", arguments={}, about=failure.about, user=user, at=at)
    announce_job()


def _task_again(failure: Failure, _user: User) -> None:
    task = current_app.tasks.get(failure.arguments["task"])
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
