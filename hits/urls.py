"""URLs of the dashboard and of the worker's task page."""

from django.urls import path

from hits.dashboard import (
    campaign_list,
    captions,
    changes,
    held_payments,
    overview,
    pay,
    selected,
    worker_data,
)
from hits.dashboard import views as dashboard
from hits.dashboard.new_campaign import views as new_campaign
from hits.task_page.draft_preview import draft_preview
from hits.task_page.views import task

app_name = "hits"

urlpatterns = [
    path("", campaign_list.campaigns, name="campaigns"),
    path("new/", new_campaign.new_campaign, name="new_campaign"),
    path("new/file/", new_campaign.new_from_file, name="new_from_file"),
    path("new/<int:pk>/preview/<slug:state>/", draft_preview, name="new_preview"),
    path("new/<int:pk>/campaign.toml", new_campaign.file, name="new_file"),
    path("new/<int:pk>/create/", new_campaign.create, name="new_create"),
    path("new/<int:pk>/detach/", new_campaign.detach, name="new_detach"),
    path("new/<int:pk>/delete/", new_campaign.delete, name="new_delete"),
    path("new/<int:pk>/steps/<slug:name>/", new_campaign.step, name="new_step"),
    path("campaigns/<slug:slug>/", overview.campaign, name="campaign"),
    path("campaigns/<slug:slug>/campaign.toml", new_campaign.campaign_file, name="campaign_file"),
    path("campaigns/<slug:slug>/change/", changes.change, name="change"),
    path("campaigns/<slug:slug>/copy/", new_campaign.copy, name="copy"),
    path("campaigns/<slug:slug>/edit/", new_campaign.edit, name="edit"),
    path("campaigns/<slug:slug>/publish/", dashboard.publish, name="publish"),
    path("campaigns/<slug:slug>/pause/", dashboard.pause, name="pause"),
    path("campaigns/<slug:slug>/finish/", dashboard.finish, name="finish"),
    path("campaigns/<slug:slug>/pause/confirm/", dashboard.confirm_pause, name="confirm_pause"),
    path("campaigns/<slug:slug>/finish/confirm/", dashboard.confirm_finish, name="confirm_finish"),
    path("campaigns/<slug:slug>/sync/", dashboard.sync, name="sync"),
    path("campaigns/<slug:slug>/sync/progress/", dashboard.sync_progress, name="sync_progress"),
    path(
        "campaigns/<slug:slug>/workers/<str:pseudonym>/exclude/", dashboard.exclude, name="exclude"
    ),
    path("campaigns/<slug:slug>/responses/<int:pk>/reject/", dashboard.reject, name="reject"),
    path("campaigns/<slug:slug>/workers/selected/", selected.selected, name="selected_workers"),
    path("campaigns/<slug:slug>/pay/", pay.payments, name="payments"),
    path("campaigns/<slug:slug>/pay/bonuses/", pay.bonuses, name="bonuses"),
    path("campaigns/<slug:slug>/pay/statement.csv", pay.statement, name="statement"),
    path("campaigns/<slug:slug>/live/", overview.overview_live, name="overview_live"),
    path("campaigns/<slug:slug>/course/", overview.course, name="course"),
    path("campaigns/<slug:slug>/images/", captions.images, name="images"),
    path("campaigns/<slug:slug>/images/<int:number>/", captions.image, name="image"),
    path("campaigns/<slug:slug>/responses/", captions.captions, name="responses"),
    path("campaigns/<slug:slug>/held-payments/", held_payments.held_payments, name="held_payments"),
    path("campaigns/<slug:slug>/held-payments/<int:pk>/pay/", held_payments.pay, name="pay_held"),
    path(
        "campaigns/<slug:slug>/held-payments/<int:pk>/reject/",
        held_payments.refuse,
        name="reject_held",
    ),
    path("workers/", worker_data.find, name="find_worker"),
    path("workers/<str:pseudonym>/", worker_data.worker_data, name="worker_data"),
    path("workers/<str:pseudonym>/data.json", worker_data.download, name="worker_file"),
    path("task/<slug:slug>/", task, name="task"),
]
