"""URLs of the dashboard and of the worker's task page."""

from django.urls import path

from hits.dashboard import captions, held_payments
from hits.dashboard import views as dashboard
from hits.task_page.views import task

app_name = "hits"

urlpatterns = [
    path("", dashboard.campaigns, name="campaigns"),
    path("new/", dashboard.new_campaign, name="new_campaign"),
    path("campaigns/<slug:slug>/", dashboard.campaign, name="campaign"),
    path("campaigns/<slug:slug>/publish/", dashboard.publish, name="publish"),
    path("campaigns/<slug:slug>/pause/", dashboard.pause, name="pause"),
    path("campaigns/<slug:slug>/finish/", dashboard.finish, name="finish"),
    path("campaigns/<slug:slug>/sync/", dashboard.sync, name="sync"),
    path("campaigns/<slug:slug>/sync/progress/", dashboard.sync_progress, name="sync_progress"),
    path(
        "campaigns/<slug:slug>/workers/<str:pseudonym>/exclude/", dashboard.exclude, name="exclude"
    ),
    path("campaigns/<slug:slug>/responses/<int:pk>/reject/", dashboard.reject, name="reject"),
    path("campaigns/<slug:slug>/images/", captions.images, name="images"),
    path("campaigns/<slug:slug>/images/<int:number>/", captions.image, name="image"),
    path("campaigns/<slug:slug>/captions/", captions.captions, name="captions"),
    path("campaigns/<slug:slug>/held-payments/", held_payments.held_payments, name="held_payments"),
    path("campaigns/<slug:slug>/held-payments/<int:pk>/pay/", held_payments.pay, name="pay_held"),
    path(
        "campaigns/<slug:slug>/held-payments/<int:pk>/reject/",
        held_payments.refuse,
        name="reject_held",
    ),
    path("task/<slug:slug>/", task, name="task"),
]
