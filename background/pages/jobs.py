"""Pages of background work: jobs with their progress, failures, and for operators backups."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import UserPassesTestMixin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Right
from accounts.pages.lists import page_of
from accounts.pages.signed_in import refusals_shown, user_of
from accounts.rights import current_team, require
from background.failures import end_failure
from background.jobs import requests
from background.jobs.requests import request_job, run_again
from background.models import (
    Delivery,
    DeliveryStatus,
    Failure,
    FailureQuerySet,
    FailureSource,
    Job,
    JobQuerySet,
    JobStatus,
)
from background.tasks import announce_job, hand_on
from corpora.errors import DomainError
from shared.backups.pages import BackupsView


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
    failure = _failure(request, pk)
    with refusals_shown(request):
        with transaction.atomic():
            end_failure(failure=failure, by=user_of(request), at=timezone.now())
            AGAIN[FailureSource(failure.source)](failure, user_of(request))
        messages.success(request, f"“{failure}” is tried again.")
    return redirect("jobs:failures")


@require_POST
def dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a failure off the list. Nothing else changes."""
    failure = _failure(request, pk)
    try:
        end_failure(failure=failure, by=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.info(request, str(error))
    return redirect("jobs:failures")


def _failure(request: HttpRequest, pk: int) -> Failure:
    """A failure of one of the user's teams, or for operators of the site; raises Http404 and
    PermissionDenied."""
    rows = Failure.objects.visible_to(user_of(request)).select_related("team")
    failure = get_object_or_404(rows, pk=pk)
    if failure.team:
        require(request, failure.team, Right.MANAGE)
    elif not user_of(request).is_superuser:
        raise PermissionDenied("Only operators of this site may do this.")
    return failure


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
    if settings.CELERY_TASK_ALWAYS_EAGER:
        return  # the clock repeats all tasks, and this transaction must not contain one
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


# A worker process starts a job within seconds, unless all are busy.
PATIENCE = timedelta(seconds=20)
# In the session: the key of the latest job requested on a page, whose result opens by itself.
TO_OPEN = "job_to_open"
SHOWN = {
    "running": ("Waiting and running", JobStatus.WAITING, JobStatus.RUNNING),
    "failed": ("Failed", JobStatus.FAILED),
    "done": ("Done", JobStatus.DONE),
    "cancelled": ("Cancelled", JobStatus.CANCELLED),
}


def begin_job(
    request: HttpRequest,
    *,
    kind: str,
    arguments: Mapping[str, Any] | None = None,
    about: Model | None = None,
) -> Job:
    """Request a job for the signed-in user, and let a worker start it. Raises DomainError.

    A job without a subject belongs to the current team.
    """
    job = requests.request_job(
        kind=kind,
        arguments=arguments or {},
        user=user_of(request),
        at=timezone.now(),
        about=about,
        team=None if about else current_team(request),
    )
    announce_job()
    request.session[TO_OPEN] = str(job.key)
    return job


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """List the team's jobs, the latest first."""
    chosen = request.GET.get("status", "")
    rows = _jobs(request).select_related("asked_by").prefetch_related("about")
    if chosen in SHOWN:
        rows = rows.filter(status__in=SHOWN[chosen][1:])
    context = {
        "page": page_of(rows, request, per_page=30),
        "chosen": chosen,
        "choices": {name: label for name, (label, *_) in SHOWN.items()},
        "unattended": _unattended(),
        "failed": open_failures(request).count(),
    }
    return render(request, "background/jobs.html", context)


@require_safe
def count(request: HttpRequest) -> HttpResponse:
    """The numbers of unfinished jobs and of failures, which every page's header loads."""
    context = {
        "number": _jobs(request).unfinished().count(),
        "failed": open_failures(request).count(),
    }
    return render(request, "background/count.html", context)


@require_safe
def job(request: HttpRequest, key: UUID) -> HttpResponse:
    """Show a job. The page loads its part with the progress again until the job has ended."""
    job = _job(request, key)
    context = {
        "job": job,
        "lines": job.lines.all(),
        "unattended": job.status == JobStatus.WAITING and _unattended(),
        "is_again_possible": requests.is_again_possible(job),
        "opens": bool(job.result_url) and request.session.get(TO_OPEN) == str(job.key),
    }
    is_part = request.headers.get("HX-Request") == "true"
    answer = render(request, "background/state.html" if is_part else "background/job.html", context)
    if context["opens"] and "open" in request.GET:
        del request.session[TO_OPEN]
        log = format_html('<a href="{}">Log</a>', job.get_absolute_url())
        messages.success(request, format_html("{} {}", job.result_text or "Done.", log))
        answer.headers["HX-Redirect"] = job.result_url
    return answer


@require_safe
def file(request: HttpRequest, key: UUID) -> FileResponse:
    """Download the file that a job wrote."""
    job = _job(request, key)
    path = Path(settings.MEDIA_ROOT) / job.result_file
    try:
        written = path.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise Http404("This job has no file.") from error
    return FileResponse(written, as_attachment=True, filename=path.name)


@require_POST
def cancel(request: HttpRequest, key: UUID) -> HttpResponse:
    job = _job(request, key, may=Right.MANAGE)
    try:
        requests.cancel_job(job=job, user=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.info(request, str(error))
    return redirect(job)


@require_POST
def again(request: HttpRequest, key: UUID) -> HttpResponse:
    job = _job(request, key, may=Right.MANAGE)
    with refusals_shown(request):
        job = requests.run_again(job=job, user=user_of(request), at=timezone.now())
        announce_job()
    return redirect(job)


def _jobs(request: HttpRequest) -> JobQuerySet:
    """The current team's jobs, and for operators those of the site."""
    own = Job.objects.of_team(current_team(request))
    return own | Job.objects.filter(team=None) if user_of(request).is_superuser else own


def _job(request: HttpRequest, key: UUID, may: Right = Right.VIEW) -> Job:
    """A job of one of the user's teams; raises Http404 and PermissionDenied."""
    rows = Job.objects.visible_to(user_of(request)).select_related(
        "team", "asked_by", "cancel_asked_by", "repeats"
    )
    job = get_object_or_404(rows, key=key)
    if job.team:
        require(request, job.team, may)
    return job


def _unattended() -> bool:
    """Whether jobs wait although no worker process seems to run."""
    at = timezone.now()
    return (
        Job.objects.waiting(at - PATIENCE).exists()
        and not Job.objects.running().filter(due_at__gt=at).exists()
    )


class BackupsPage(UserPassesTestMixin, BackupsView):
    """Shows the latest backups to operators (superusers); all others get a 403."""

    template_name = "background/backups.html"
    backup, restore = "backup", "restore"
    raise_exception = True
    permission_denied_message = "Only operators of this site see its backups."

    def test_func(self) -> bool:
        return bool(self.request.user.is_superuser)

    def get_context_data(self, **given: Any) -> dict[str, Any]:
        # An address of Amazon's has no such page, and one that is not known may have none.
        is_local = settings.MTURK_ENDPOINT == "local"
        page = f"{settings.MARKETPLACE_URL}/operator/backups" if is_local else ""
        return super().get_context_data(marketplace=page, **given)
