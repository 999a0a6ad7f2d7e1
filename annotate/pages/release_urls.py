"""URLs of releases."""

from django.urls import path

from annotate.pages import releases, reports
from annotate.pages.exports import export, release_archive

app_name = "annotate"

urlpatterns = [
    path("", releases.releases, name="releases"),
    path("<slug:name>/", releases.release, name="release"),
    path("<slug:name>/formats/<slug:file_format>.zip", release_archive, name="release_archive"),
    path("<slug:name>/exports/", export, name="export"),
    path("<slug:name>/report/", reports.report, name="report"),
    path("<slug:name>/report/<str:file>", reports.report_file, name="report_file"),
    path("<slug:name>/<str:file>", releases.release_file, name="release_file"),
]
