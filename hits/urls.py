"""URLs of the dashboard and of the worker's task page."""

from django.urls import path

from hits.pages import (
    campaigns,
    captions,
    hand_over,
    lifecycle,
    payments,
    people,
    worker_data,
    workers,
)
from hits.pages.new_campaign import drafts
from hits.pages.new_campaign.drafts import draft_preview
from hits.pages.task_page.page import task
from hits.pages.told import told

app_name = "hits"

urlpatterns = [
    path("", campaigns.campaigns, name="campaigns"),
    path("new/", drafts.new_campaign, name="new_campaign"),
    path("new/file/", drafts.new_from_file, name="new_from_file"),
    path("new/<int:pk>/preview/<slug:state>/", draft_preview, name="new_preview"),
    path("new/<int:pk>/campaign.toml", drafts.file, name="new_file"),
    path("new/<int:pk>/create/", drafts.create, name="new_create"),
    path("new/<int:pk>/detach/", drafts.detach, name="new_detach"),
    path("new/<int:pk>/delete/", drafts.delete, name="new_delete"),
    path("new/<int:pk>/steps/<slug:name>/", drafts.step, name="new_step"),
    path("campaigns/<slug:slug>/", campaigns.campaign, name="campaign"),
    path("campaigns/<slug:slug>/campaign.toml", drafts.campaign_file, name="campaign_file"),
    path("campaigns/<slug:slug>/change/", lifecycle.change, name="change"),
    path("campaigns/<slug:slug>/copy/", drafts.copy, name="copy"),
    path("campaigns/<slug:slug>/edit/", drafts.edit, name="edit"),
    path("campaigns/<slug:slug>/publish/", lifecycle.publish, name="publish"),
    path("campaigns/<slug:slug>/pause/", lifecycle.move, {"act": "pause"}, name="pause"),
    path("campaigns/<slug:slug>/finish/", lifecycle.move, {"act": "finish"}, name="finish"),
    path("campaigns/<slug:slug>/invite/", people.invite, name="invite"),
    path("campaigns/<slug:slug>/who-is-who/", people.who_is_who, name="who_is_who"),
    path("campaigns/<slug:slug>/marketplace/", hand_over.at_marketplace, name="at_marketplace"),
    path("hand-over/", hand_over.tell, name="hand_over"),
    path("campaigns/<slug:slug>/sync/", lifecycle.sync, name="sync"),
    path("campaigns/<slug:slug>/sync/progress/", lifecycle.sync_progress, name="sync_progress"),
    path("campaigns/<slug:slug>/workers/<str:pseudonym>/exclude/", workers.exclude, name="exclude"),
    path("campaigns/<slug:slug>/responses/<int:pk>/reject/", payments.reject, name="reject"),
    path("campaigns/<slug:slug>/workers/selected/", workers.selected, name="selected_workers"),
    path("campaigns/<slug:slug>/pay/", payments.payments, name="payments"),
    path("campaigns/<slug:slug>/pay/bonuses/", payments.bonuses, name="bonuses"),
    path("campaigns/<slug:slug>/pay/statement.csv", payments.statement, name="statement"),
    path("campaigns/<slug:slug>/live/", campaigns.overview_live, name="overview_live"),
    path("campaigns/<slug:slug>/course/", campaigns.course, name="course"),
    path("campaigns/<slug:slug>/images/", captions.images, name="images"),
    path("campaigns/<slug:slug>/images/<int:number>/", captions.image, name="image"),
    path("campaigns/<slug:slug>/responses/", captions.captions, name="responses"),
    path("campaigns/<slug:slug>/held-payments/", payments.held_payments, name="held_payments"),
    path(
        "campaigns/<slug:slug>/held-payments/<int:pk>/pay/",
        payments.decide_held,
        {"pays": True},
        name="pay_held",
    ),
    path(
        "campaigns/<slug:slug>/held-payments/<int:pk>/reject/",
        payments.decide_held,
        {"pays": False},
        name="reject_held",
    ),
    path("workers/", worker_data.find, name="find_worker"),
    path("workers/<str:pseudonym>/", worker_data.worker_data, name="worker_data"),
    path("workers/<str:pseudonym>/data.json", worker_data.download, name="worker_file"),
    path("task/<slug:slug>/", task, name="task"),
    path("task/<slug:slug>/told/", told, name="told"),
]
