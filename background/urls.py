"""URLs of jobs."""

from django.urls import path

from background.pages import failures, jobs
from background.pages.backups import BackupsPage

app_name = "jobs"

urlpatterns = [
    path("", jobs.jobs, name="jobs"),
    path("count/", jobs.count, name="count"),
    path("failures/", failures.failures, name="failures"),
    path("failures/<int:pk>/again/", failures.try_again, name="try_again"),
    path("failures/<int:pk>/dismiss/", failures.dismiss, name="dismiss"),
    path("backups/", BackupsPage.as_view(), name="backups"),
    path("<uuid:key>/", jobs.job, name="job"),
    path("<uuid:key>/file/", jobs.file, name="file"),
    path("<uuid:key>/cancel/", jobs.cancel, name="cancel"),
    path("<uuid:key>/again/", jobs.again, name="again"),
]
