"""URLs of the API."""

from django.urls import include, path
from rest_framework.routers import DefaultRouter

from accounts.api.tokens import TokenView
from annotate.api.documentation import DocumentationView, SchemaView
from annotate.api.images import ImageList, ImportList
from annotate.api.jobs import CancelJob, JobDetail, JobList, RepeatJob
from annotate.api.releases import (
    ReleaseArchiveView,
    ReleaseFileView,
    ReleaseTextView,
    ReleaseViewSet,
)
from annotate.api.selections import SelectedImageList, SelectionDetail, SelectionList
from annotate.api.webhooks import TestWebhook, WebhookDetail, WebhookList
from hits.api import payments, workers
from hits.api.campaigns import CampaignViewSet
from hits.api.payments import BonusList
from hits.api.responses import ResponseList, TaskList
from hits.api.workers import MessageList
from qualcontrol.api.checks import AskSecondOpinion, GoldList, JudgeItem, NextChecks, SpotCheckList
from qualcontrol.api.decisions import AnswerAppeal, AppealList, DecisionList
from qualcontrol.api.releases import CampaignReleases

router = DefaultRouter(use_regex_path=True)
router.include_format_suffixes = False
router.register("campaigns", CampaignViewSet, basename="api-campaign")
router.register("releases", ReleaseViewSet, basename="api-release")

CAMPAIGN = "campaigns/<slug:slug>/"
HELD = f"{CAMPAIGN}held-payments/"
CHECKS = f"{CAMPAIGN}spot-checks/"
WEBHOOKS = f"{CAMPAIGN}webhooks/"
WORKERS = f"{CAMPAIGN}workers/"
WORKER = f"{WORKERS}<slug:pseudonym>/"

urlpatterns = [
    path("", include(router.urls)),
    path(f"{CAMPAIGN}tasks/", TaskList.as_view(), name="api-campaign-tasks"),
    path(f"{CAMPAIGN}responses/", ResponseList.as_view(), name="api-campaign-responses"),
    path(f"{CAMPAIGN}bonuses/", BonusList.as_view(), name="api-campaign-bonuses"),
    path(f"{CAMPAIGN}releases/", CampaignReleases.as_view(), name="api-campaign-releases"),
    path(f"{CAMPAIGN}decisions/", DecisionList.as_view(), name="api-campaign-decisions"),
    path(f"{CAMPAIGN}appeals/", AppealList.as_view(), name="api-campaign-appeals"),
    path(f"{CAMPAIGN}appeals/<int:pk>/answer/", AnswerAppeal.as_view(), name="api-appeal-answer"),
    path(f"{CAMPAIGN}gold/", GoldList.as_view(), name="api-campaign-gold"),
    path(f"{CAMPAIGN}messages/", MessageList.as_view(), name="api-campaign-messages"),
    path(HELD, payments.HeldPaymentList.as_view(), name="api-held-payment-list"),
    path(f"{HELD}<int:pk>/payment/", payments.PayHeld.as_view(), name="api-held-payment-payment"),
    path(
        f"{HELD}<int:pk>/rejection/",
        payments.RejectHeld.as_view(),
        name="api-held-payment-rejection",
    ),
    path(
        f"{CAMPAIGN}responses/<int:pk>/rejection/",
        payments.RejectResponse.as_view(),
        name="api-response-rejection",
    ),
    path(WEBHOOKS, WebhookList.as_view(), name="api-webhook-list"),
    path(f"{WEBHOOKS}<uuid:key>/", WebhookDetail.as_view(), name="api-webhook-detail"),
    path(f"{WEBHOOKS}<uuid:key>/test/", TestWebhook.as_view(), name="api-webhook-test"),
    path(CHECKS, SpotCheckList.as_view(), name="api-spot-check-list"),
    path(f"{CHECKS}next/", NextChecks.as_view(), name="api-spot-check-next"),
    path(f"{CHECKS}<uuid:key>/second-opinion/", AskSecondOpinion.as_view(), name="api-ask"),
    path(f"{CHECKS}<uuid:key>/verdict/", JudgeItem.as_view(), name="api-spot-check-verdict"),
    path(WORKERS, workers.WorkerList.as_view(), name="api-worker-list"),
    path(WORKER, workers.WorkerDetail.as_view(), name="api-worker-detail"),
    path(f"{WORKER}exclusion/", workers.Exclude.as_view(), name="api-worker-exclusion"),
    path(f"{WORKER}reinstatement/", workers.Reinstate.as_view(), name="api-worker-reinstatement"),
    path(f"{WORKER}pause/", workers.PauseWorker.as_view(), name="api-worker-pause"),
    path(f"{WORKER}resume/", workers.ResumeWorker.as_view(), name="api-worker-resume"),
    path(f"{WORKER}dismissal/", workers.DismissProposal.as_view(), name="api-worker-dismissal"),
    path("imports/", ImportList.as_view(), name="api-import-list"),
    path("images/", ImageList.as_view(), name="api-image-list"),
    path("selections/", SelectionList.as_view(), name="api-selection-list"),
    path("selections/<slug:name>/", SelectionDetail.as_view(), name="api-selection-detail"),
    path(
        "selections/<slug:name>/images/",
        SelectedImageList.as_view(),
        name="api-selection-images",
    ),
    path("jobs/", JobList.as_view(), name="api-job-list"),
    path("jobs/<uuid:key>/", JobDetail.as_view(), name="api-job-detail"),
    path("jobs/<uuid:key>/cancel/", CancelJob.as_view(), name="api-job-cancel"),
    path("jobs/<uuid:key>/again/", RepeatJob.as_view(), name="api-job-again"),
    path(
        "releases/<slug:name>/formats/<slug:file_format>.zip",
        ReleaseArchiveView.as_view(),
        name="api-release-archive",
    ),
    path(
        "releases/<slug:name>/text/<str:file>", ReleaseTextView.as_view(), name="api-release-text"
    ),
    path("releases/<slug:name>/<str:file>", ReleaseFileView.as_view(), name="api-release-file"),
    path("token/", TokenView.as_view(), name="api-token"),
    path("schema/", SchemaView.as_view(), name="api-schema"),
    path("documentation/", DocumentationView.as_view(), name="api-documentation"),
]
