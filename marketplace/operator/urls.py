"""URLs of the operator's pages, all under /operator/."""

from django.urls import path

from . import invitations, panels, people, records, views, workers

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
    path("workers/<str:public_id>/data.json", workers.data, name="worker_file"),
    path("workers/<str:public_id>/erasure", workers.erase, name="erase_worker"),
    path("people", people.groups, name="people"),
    path("people/<int:pk>", people.group, name="people_group"),
    path("people/<int:pk>/link", people.replace_link, name="people_link"),
    path("people/<int:pk>/open", people.open_group, name="open_people"),
    path("people/<int:pk>/tasks", people.offer, name="people_offer"),
    path("people/<int:pk>/tasks/<int:offer_pk>/close", people.close_offer, name="close_offer"),
    path("people/<int:pk>/mail", people.invite, name="people_mail"),
    path("people/<int:pk>/mail/again", people.send_again, name="people_mail_again"),
    path("people/<int:pk>/hours.csv", people.hours_csv, name="people_hours"),
    path("people/<int:pk>/withdrawals.csv", people.withdrawals_csv, name="people_withdrawals"),
    path(
        "people/<int:pk>/members/<str:public_id>/withdrawal",
        people.withdraw,
        name="withdraw_member",
    ),
    path("invitations", invitations.invitations, name="invitations"),
    path("invitations/<int:pk>/end", invitations.end_invitation, name="end_invitation"),
    path("studies", invitations.studies, name="studies"),
    path("studies/<slug:slug>/open", invitations.open_study, name="open_study"),
    path("studies/<slug:slug>/panel", panels.study_at_panel, name="study_at_panel"),
    path("studies/<slug:slug>/panel/study", panels.panel_study_action, name="panel_study_action"),
    path(
        "studies/<slug:slug>/panel/submissions/<int:pk>",
        panels.panel_submission_action,
        name="panel_submission_action",
    ),
    path(
        "studies/<slug:slug>/panel/batches/<int:pk>",
        panels.panel_batch_action,
        name="panel_batch_action",
    ),
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
