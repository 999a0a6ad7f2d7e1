"""URLs of the pages about the user's own account."""

from django.urls import path

from annotate.accounts import notices, second_factor, teams, views

app_name = "account"

urlpatterns = [
    path("team/", teams.team, name="team"),
    path("team/switch/", teams.switch, name="switch_team"),
    path("team/members/<int:pk>/", teams.member, name="member"),
    path("team/invitations/<int:pk>/revoke/", teams.revoke, name="revoke_invitation"),
    path("invitations/<str:text>/", teams.invitation, name="invitation"),
    path("password/", views.PasswordView.as_view(), name="password"),
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path("notices/", notices.notices, name="notices"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/withdraw/", views.withdraw, name="withdraw_token"),
]
