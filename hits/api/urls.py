"""URLs of the API."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import DefaultRouter

from annotate.accounts.token_api import TokenView
from annotate.api.documentation import DocumentationView
from annotate.api.releases import ReleaseArchiveView, ReleaseFileView, ReleaseViewSet
from hits.api.bonuses import BonusList
from hits.api.campaigns import CampaignViewSet
from hits.api.responses import ResponseList, TaskList

router = DefaultRouter(use_regex_path=True)
router.include_format_suffixes = False
router.register("campaigns", CampaignViewSet, basename="api-campaign")
router.register("releases", ReleaseViewSet, basename="api-release")

CAMPAIGN = "campaigns/<slug:slug>/"

urlpatterns = [
    path("", include(router.urls)),
    path(f"{CAMPAIGN}tasks/", TaskList.as_view(), name="api-campaign-tasks"),
    path(f"{CAMPAIGN}responses/", ResponseList.as_view(), name="api-campaign-responses"),
    path(f"{CAMPAIGN}bonuses/", BonusList.as_view(), name="api-campaign-bonuses"),
    path(
        "releases/<slug:name>/formats/<slug:file_format>.zip",
        ReleaseArchiveView.as_view(),
        name="api-release-archive",
    ),
    path("releases/<slug:name>/<str:file>", ReleaseFileView.as_view(), name="api-release-file"),
    path("token/", TokenView.as_view(), name="api-token"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("documentation/", DocumentationView.as_view(), name="api-documentation"),
]
