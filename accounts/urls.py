"""URLs of the pages about the user's own account."""

from django.urls import path

from accounts.pages import account as views
from accounts.pages import teams

app_name = "account"

urlpatterns = [
    path("team/", teams.team, name="team"),
    path("team/switch/", teams.switch, name="switch_team"),
    path("team/members/<int:pk>/", teams.member, name="member"),
    path("team/invitations/<int:pk>/revoke/", teams.revoke, name="revoke_invitation"),
    path("invitations/<str:text>/", teams.invitation, name="invitation"),
    path("password/", views.PasswordView.as_view(), name="password"),
    path("second-factor/", views.second_factor, name="second_factor"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/withdraw/", views.withdraw, name="withdraw_token"),
]
