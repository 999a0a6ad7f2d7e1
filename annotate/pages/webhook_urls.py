"""URLs of a campaign's webhooks."""

from django.urls import path

from annotate.pages import webhooks

app_name = "webhooks"

urlpatterns = [
    path("<slug:slug>/webhooks/", webhooks.webhooks, name="webhooks"),
    path("<slug:slug>/webhooks/<uuid:key>/", webhooks.webhook, name="webhook"),
    path("<slug:slug>/webhooks/<uuid:key>/test/", webhooks.test, name="test"),
    path("<slug:slug>/webhooks/<uuid:key>/secret/", webhooks.secret, name="secret"),
    path("<slug:slug>/webhooks/<uuid:key>/remove/", webhooks.remove, name="remove"),
]
