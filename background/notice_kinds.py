"""The notices of this app: a job failed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from background.models import Job, JobStatus
from background.notices.registry import Event, NoticeKind, register

# Jobs that failed earlier, such as before an upgrade, are left out.
RECENTLY = timedelta(days=1)


def failed_jobs(at: datetime) -> Iterator[Event]:
    rows = Job.objects.filter(status=JobStatus.FAILED, ended_at__gt=at - RECENTLY)
    for job in rows.select_related("asked_by", "team").prefetch_related("about"):
        yield Event(
            subject=str(job.key),
            title=f"Failed: {job}",
            text=job.error,
            path=job.get_absolute_url(),
            about=job.about,
            only=job.asked_by,
            of_team=job.team,
        )


register(
    NoticeKind(
        name="job-failed",
        label="A job failed",
        about="a release, report, export or import that you requested",
        find=failed_jobs,
        is_state=False,
    )
)
