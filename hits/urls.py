"""The requester's pages, and the worker's task page."""

from django.urls import path

from hits.views.task import task

app_name = "hits"

urlpatterns = [
    path("task/<slug:slug>/", task, name="task"),
]
