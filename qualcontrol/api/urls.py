"""URLs of checks, decisions and a campaign's releases in the API."""

from django.urls import path

from qualcontrol.api import checks, decisions
from qualcontrol.api.releases import CampaignReleases

CAMPAIGN = "campaigns/<slug:slug>/"
APPEALS = f"{CAMPAIGN}appeals/"
CHECKS = f"{CAMPAIGN}spot-checks/"

urlpatterns = [
    path(f"{CAMPAIGN}releases/", CampaignReleases.as_view(), name="api-campaign-releases"),
    path(f"{CAMPAIGN}decisions/", decisions.DecisionList.as_view(), name="api-campaign-decisions"),
    path(APPEALS, decisions.AppealList.as_view(), name="api-campaign-appeals"),
    path(f"{APPEALS}<int:pk>/answer/", decisions.AnswerAppeal.as_view(), name="api-appeal-answer"),
    path(f"{CAMPAIGN}gold/", checks.GoldList.as_view(), name="api-campaign-gold"),
    path(CHECKS, checks.SpotCheckList.as_view(), name="api-spot-check-list"),
    path(f"{CHECKS}next/", checks.NextChecks.as_view(), name="api-spot-check-next"),
    path(f"{CHECKS}<uuid:key>/second-opinion/", checks.AskSecondOpinion.as_view(), name="api-ask"),
    path(f"{CHECKS}<uuid:key>/verdict/", checks.JudgeItem.as_view(), name="api-spot-check-verdict"),
]
