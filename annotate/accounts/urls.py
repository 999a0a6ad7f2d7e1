"""URLs of the pages about the user's own account."""

from django.urls import path

from annotate.accounts import notices, views

app_name = "account"

urlpatterns = [
    path("password/", views.PasswordView.as_view(), name="password"),
    path("notices/", notices.notices, name="notices"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/withdraw/", views.withdraw, name="withdraw_token"),
]
