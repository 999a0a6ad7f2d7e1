"""URLs of releases."""

from django.urls import path

from annotate.pages import views

app_name = "annotate"

urlpatterns = [
    path("", views.releases, name="releases"),
    path("<slug:name>/", views.release, name="release"),
    path("<slug:name>/<str:file>", views.release_file, name="release_file"),
]
