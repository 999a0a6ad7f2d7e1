"""URLs of jobs, and of the page on which a user chooses notices."""

from django.urls import path

from background.pages import jobs, notices
from background.pages.jobs import BackupsPage

app_name = "jobs"

urlpatterns = [
    path("", jobs.jobs, name="jobs"),
    path("count/", jobs.count, name="count"),
    path("failures/", jobs.failures, name="failures"),
    path("failures/<int:pk>/again/", jobs.try_again, name="try_again"),
    path("failures/<int:pk>/dismiss/", jobs.dismiss, name="dismiss"),
    path("backups/", BackupsPage.as_view(), name="backups"),
    path("<uuid:key>/", jobs.job, name="job"),
    path("<uuid:key>/file/", jobs.file, name="file"),
    path("<uuid:key>/cancel/", jobs.cancel, name="cancel"),
    path("<uuid:key>/again/", jobs.again, name="again"),
]

notice_urls = ([path("", notices.notices, name="notices")], "notices")
