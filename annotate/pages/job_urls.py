"""URLs of jobs."""

from django.urls import path

from annotate.pages import jobs

app_name = "jobs"

urlpatterns = [
    path("", jobs.jobs, name="jobs"),
    path("count/", jobs.count, name="count"),
    path("<uuid:key>/", jobs.job, name="job"),
    path("<uuid:key>/file/", jobs.file, name="file"),
    path("<uuid:key>/cancel/", jobs.cancel, name="cancel"),
    path("<uuid:key>/again/", jobs.again, name="again"),
]
