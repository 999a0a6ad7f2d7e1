"""URLs of the operator's pages, all under /operator/."""

from django.urls import path

from . import invitations, records, views, workers

app_name = "operator"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("requesters", views.requesters, name="requesters"),
    path("requesters/<int:pk>", views.requester, name="requester"),
    path("requesters/<int:pk>/money", views.add_money, name="add_money"),
    path("requesters/<int:pk>/keys", views.replace_keys, name="replace_keys"),
    path("workers", workers.workers, name="workers"),
    path("workers/<str:public_id>", workers.worker, name="worker"),
    path("workers/<str:public_id>/link", workers.link, name="sign_in_link"),
    path("workers/<str:public_id>/sessions", workers.end_sessions, name="end_sessions"),
    path("workers/<str:public_id>/suspension", workers.suspend, name="suspend"),
    path("invitations", invitations.invitations, name="invitations"),
    path("invitations/<int:pk>/end", invitations.end_invitation, name="end_invitation"),
    path("studies", invitations.studies, name="studies"),
    path("studies/<slug:slug>/open", invitations.open_study, name="open_study"),
    path("layouts", invitations.layouts, name="layouts"),
    path("groups", records.groups, name="groups"),
    path("hits", records.hits, name="hits"),
    path("hits/<str:public_id>", records.hit, name="hit"),
    path("activity", records.activity, name="activity"),
    path("money", records.money, name="money"),
    path("money/ledger", records.ledger, name="ledger"),
    path("money/payouts", records.pay_out, name="pay_out"),
    path("money/payouts/<str:made_at>.csv", records.payout_csv, name="payout_csv"),
]
