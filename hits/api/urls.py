"""URLs of the API."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import DefaultRouter

from annotate.accounts.token_api import TokenView
from annotate.pages.api import ReleaseArchiveView, ReleaseFileView, ReleaseViewSet
from hits.api.views import CampaignViewSet

router = DefaultRouter(use_regex_path=True)
router.include_format_suffixes = False
router.register("campaigns", CampaignViewSet, basename="api-campaign")
router.register("releases", ReleaseViewSet, basename="api-release")

urlpatterns = [
    path("", include(router.urls)),
    path(
        "releases/<slug:name>/formats/<slug:file_format>.zip",
        ReleaseArchiveView.as_view(),
        name="api-release-archive",
    ),
    path("releases/<slug:name>/<str:file>", ReleaseFileView.as_view(), name="api-release-file"),
    path("token/", TokenView.as_view(), name="api-token"),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
]
