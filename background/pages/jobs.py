"""Pages of jobs: the list, one job with its progress and log, and buttons to cancel and repeat."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Model
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Right
from accounts.pages.paging import page_of
from accounts.pages.signed_in import current_team, require, user_of
from background.jobs import requests
from background.models import Job, JobStatus
from background.models.jobs import JobQuerySet
from background.pages.failures import open_failures
from background.tasks import announce_job
from corpora.errors import DomainError

# A worker process starts a job within seconds, unless all are busy.
PATIENCE = timedelta(seconds=20)
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

    A job about nothing in particular belongs to the current team.
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
    found = _job(request, key)
    context = {
        "job": found,
        "lines": found.lines.all(),
        "unattended": found.status == JobStatus.WAITING and _unattended(),
        "is_again_possible": requests.is_again_possible(found),
    }
    is_part = request.headers.get("HX-Request") == "true"
    return render(request, "background/state.html" if is_part else "background/job.html", context)


@require_safe
def file(request: HttpRequest, key: UUID) -> FileResponse:
    """Download the file that a job wrote."""
    found = _job(request, key)
    path = Path(settings.MEDIA_ROOT) / found.result_file
    if not found.result_file or not path.is_file():
        raise Http404("This job has no file.")
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)


@require_POST
def cancel(request: HttpRequest, key: UUID) -> HttpResponse:
    """Cancel a job."""
    found = _job(request, key, may=Right.MANAGE)
    try:
        requests.cancel_job(job=found, user=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.info(request, str(error))
    return redirect(found)


@require_POST
def again(request: HttpRequest, key: UUID) -> HttpResponse:
    """Run a job again."""
    found = _job(request, key, may=Right.MANAGE)
    try:
        repeated = requests.run_again(job=found, user=user_of(request), at=timezone.now())
    except DomainError as error:
        messages.warning(request, str(error))
        return redirect(found)
    announce_job()
    return redirect(repeated)


def _jobs(request: HttpRequest) -> JobQuerySet:
    """The current team's jobs, and for operators those of the site."""
    own = Job.objects.of_team(current_team(request))
    return own | Job.objects.filter(team=None) if user_of(request).is_superuser else own


def _job(request: HttpRequest, key: UUID, may: Right = Right.VIEW) -> Job:
    """A job of one of the user's teams; raises Http404 and PermissionDenied."""
    rows = Job.objects.visible_to(user_of(request)).select_related(
        "team", "asked_by", "cancel_asked_by", "repeats"
    )
    found = get_object_or_404(rows, key=key)
    if found.team:
        require(request, found.team, may)
    return found


def _unattended() -> bool:
    """Whether jobs wait although no worker process seems to run."""
    at = timezone.now()
    return (
        Job.objects.waiting(at - PATIENCE).exists()
        and not Job.objects.running().filter(due_at__gt=at).exists()
    )
