"""Addresses of the pages about one's own account."""

from django.urls import path

from annotate import account_views

app_name = "account"

urlpatterns = [
    path("tokens/", account_views.tokens, name="tokens"),
    path("tokens/<int:pk>/withdraw/", account_views.withdraw, name="withdraw_token"),
]
