"""URLs of a campaign's webhooks."""

from django.urls import path

from annotate.pages import webhooks

app_name = "webhooks"

urlpatterns = [
    path("", webhooks.webhooks, name="webhooks"),
    path("<uuid:key>/", webhooks.webhook, name="webhook"),
    path("<uuid:key>/test/", webhooks.test, name="test"),
    path("<uuid:key>/secret/", webhooks.secret, name="secret"),
    path("<uuid:key>/remove/", webhooks.remove, name="remove"),
]
