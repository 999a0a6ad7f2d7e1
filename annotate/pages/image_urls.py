"""URLs of images and selections."""

from django.urls import path

from annotate.pages.images import browser, imports, selections

app_name = "images"

urlpatterns = [
    path("", browser.images, name="images"),
    path("pick/", browser.pick, name="pick"),
    path("<int:pk>/", browser.image, name="image"),
    path("import/", imports.import_images, name="import"),
    path("selections/", selections.selections, name="selections"),
    path("selections/new/", selections.new_selection, name="new_selection"),
    path("selections/pools/", selections.pools, name="pools"),
    path("selections/of/<slug:name>/", selections.selection, name="selection"),
]
