"""URLs of the review and quality pages."""

from django.urls import path

from qualcontrol.pages import gold, quality, releases, review, workers

app_name = "qualcontrol"

urlpatterns = [
    path("<slug:slug>/", review.queue, name="queue"),
    path("<slug:slug>/checks/<uuid:key>/", review.judge, name="judge"),
    path("<slug:slug>/checks/<uuid:key>/take-back/", review.take_back, name="take_back"),
    path("<slug:slug>/checks/<uuid:key>/second-opinion/", review.ask, name="ask"),
    path("<slug:slug>/take-back/", review.take_back_last, name="take_back_last"),
    path("<slug:slug>/responses/<int:pk>/", review.response, name="response"),
    path("<slug:slug>/quality/", quality.quality, name="quality"),
    path("<slug:slug>/gold/", gold.gold, name="gold"),
    path("<slug:slug>/workers/", workers.workers, name="workers"),
    path("<slug:slug>/workers/<str:pseudonym>/", workers.worker, name="worker"),
    path("<slug:slug>/workers/<str:pseudonym>/appeal/", workers.appeal, name="appeal"),
    path("<slug:slug>/workers/<str:pseudonym>/<slug:act>/", workers.act, name="act"),
    path("<slug:slug>/appeals/<int:pk>/", workers.answer_appeal, name="answer_appeal"),
    path("<slug:slug>/decisions/", quality.decisions, name="decisions"),
    path("<slug:slug>/releases/", releases.releases, name="releases"),
]
