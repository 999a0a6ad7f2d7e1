"""URLs of images, selections, releases, jobs and webhooks in the API, and of its description."""

from django.urls import path

from annotate.api import images, jobs, releases, selections, webhooks
from annotate.api.documentation import DocumentationView, SchemaView

SELECTION = "selections/<slug:name>/"
RELEASE = "releases/<slug:name>/"
JOB = "jobs/<uuid:key>/"
WEBHOOKS = "campaigns/<slug:slug>/webhooks/"

urlpatterns = [
    path("imports/", images.ImportList.as_view(), name="api-import-list"),
    path("images/", images.ImageList.as_view(), name="api-image-list"),
    path("selections/", selections.SelectionList.as_view(), name="api-selection-list"),
    path(SELECTION, selections.SelectionDetail.as_view(), name="api-selection-detail"),
    path(
        f"{SELECTION}images/", selections.SelectedImageList.as_view(), name="api-selection-images"
    ),
    path(
        f"{RELEASE}formats/<slug:file_format>.zip",
        releases.ReleaseArchiveView.as_view(),
        name="api-release-archive",
    ),
    path(f"{RELEASE}text/<str:file>", releases.ReleaseTextView.as_view(), name="api-release-text"),
    path(f"{RELEASE}<str:file>", releases.ReleaseFileView.as_view(), name="api-release-file"),
    path("jobs/", jobs.JobList.as_view(), name="api-job-list"),
    path(JOB, jobs.JobDetail.as_view(), name="api-job-detail"),
    path(f"{JOB}cancel/", jobs.CancelJob.as_view(), name="api-job-cancel"),
    path(f"{JOB}again/", jobs.RepeatJob.as_view(), name="api-job-again"),
    path(WEBHOOKS, webhooks.WebhookList.as_view(), name="api-webhook-list"),
    path(f"{WEBHOOKS}<uuid:key>/", webhooks.WebhookDetail.as_view(), name="api-webhook-detail"),
    path(f"{WEBHOOKS}<uuid:key>/test/", webhooks.TestWebhook.as_view(), name="api-webhook-test"),
    path("schema/", SchemaView.as_view(), name="api-schema"),
    path("documentation/", DocumentationView.as_view(), name="api-documentation"),
]
