"""URLs of images and selections, of releases, and of webhooks."""

from django.urls import path

from annotate.pages import releases, webhooks
from annotate.pages.images import browser, imports, selections

image_urls = (
    [
        path("", browser.images, name="images"),
        path("pick/", browser.pick, name="pick"),
        path("<int:pk>/", browser.image, name="image"),
        path("import/", imports.import_images, name="import"),
        path("selections/", selections.selections, name="selections"),
        path("selections/new/", selections.new_selection, name="new_selection"),
        path("selections/pools/", selections.pools, name="pools"),
        path("selections/of/<slug:name>/", selections.selection, name="selection"),
    ],
    "images",
)

release_urls = (
    [
        path("", releases.releases, name="releases"),
        path("<slug:name>/", releases.release_page, name="release"),
        path(
            "<slug:name>/formats/<slug:file_format>.zip",
            releases.release_archive,
            name="release_archive",
        ),
        path("<slug:name>/exports/", releases.export, name="export"),
        path("<slug:name>/report/", releases.report, name="report"),
        path("<slug:name>/report/<str:file>", releases.report_file, name="report_file"),
        path("<slug:name>/<str:file>", releases.release_file, name="release_file"),
    ],
    "annotate",
)

webhook_urls = (
    [
        path("<slug:slug>/webhooks/", webhooks.webhooks, name="webhooks"),
        path("<slug:slug>/webhooks/<uuid:key>/", webhooks.webhook, name="webhook"),
        path("<slug:slug>/webhooks/<uuid:key>/test/", webhooks.test, name="test"),
        path("<slug:slug>/webhooks/<uuid:key>/secret/", webhooks.secret, name="secret"),
        path("<slug:slug>/webhooks/<uuid:key>/remove/", webhooks.remove, name="remove"),
    ],
    "webhooks",
)
