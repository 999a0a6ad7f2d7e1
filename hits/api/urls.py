"""URLs of what a campaign has in the API: tasks, responses, workers and payments."""

from django.urls import path

from hits.api import payments, responses, workers

CAMPAIGN = "campaigns/<slug:slug>/"
HELD = f"{CAMPAIGN}held-payments/"
WORKERS = f"{CAMPAIGN}workers/"
WORKER = f"{WORKERS}<slug:pseudonym>/"

urlpatterns = [
    path(f"{CAMPAIGN}tasks/", responses.TaskList.as_view(), name="api-campaign-tasks"),
    path(f"{CAMPAIGN}responses/", responses.ResponseList.as_view(), name="api-campaign-responses"),
    path(
        f"{CAMPAIGN}responses/<int:pk>/rejection/",
        payments.RejectResponse.as_view(),
        name="api-response-rejection",
    ),
    path(f"{CAMPAIGN}bonuses/", payments.BonusList.as_view(), name="api-campaign-bonuses"),
    path(f"{CAMPAIGN}messages/", workers.MessageList.as_view(), name="api-campaign-messages"),
    path(HELD, payments.HeldPaymentList.as_view(), name="api-held-payment-list"),
    path(f"{HELD}<int:pk>/payment/", payments.PayHeld.as_view(), name="api-held-payment-payment"),
    path(
        f"{HELD}<int:pk>/rejection/",
        payments.RejectHeld.as_view(),
        name="api-held-payment-rejection",
    ),
    path(WORKERS, workers.WorkerList.as_view(), name="api-worker-list"),
    path(WORKER, workers.WorkerDetail.as_view(), name="api-worker-detail"),
    path(f"{WORKER}exclusion/", workers.Exclude.as_view(), name="api-worker-exclusion"),
    path(f"{WORKER}reinstatement/", workers.Reinstate.as_view(), name="api-worker-reinstatement"),
    path(f"{WORKER}pause/", workers.PauseWorker.as_view(), name="api-worker-pause"),
    path(f"{WORKER}resume/", workers.ResumeWorker.as_view(), name="api-worker-resume"),
    path(f"{WORKER}dismissal/", workers.DismissProposal.as_view(), name="api-worker-dismissal"),
]
