"""URLs of the requester site."""

from pathlib import Path

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from rest_framework.routers import DefaultRouter

from accounts.api.tokens import TokenView
from accounts.pages.sign_in import ForgottenView, NewPasswordView, SentView, SignInForm
from annotate.api.releases import ReleaseViewSet
from annotate.pages.media import image_copy, media
from annotate.urls import image_urls, release_urls, webhook_urls
from background.gauges import check_broker
from background.urls import notice_urls
from hits.api.campaigns import CampaignViewSet
from shared.health import check_database, check_folder, check_migrations, healthz, readiness
from shared.mail import sends_email
from shared.metrics import metrics

router = DefaultRouter(use_regex_path=True)
router.include_format_suffixes = False
router.register("campaigns", CampaignViewSet, basename="api-campaign")
router.register("releases", ReleaseViewSet, basename="api-release")

api_urls = [
    path("", include(router.urls)),
    path("", include("hits.api.urls")),
    path("", include("qualcontrol.api.urls")),
    path("", include("leaderboard.api")),
    path("", include("annotate.api.urls")),
]

readyz = readiness(
    {
        "database": check_database,
        "migrations": check_migrations,
        "broker": check_broker,
        "media": lambda: check_folder(Path(settings.MEDIA_ROOT)),
    }
)

urlpatterns = [
    path("", include("hits.urls")),
    path("review/", include("qualcontrol.urls")),
    path("releases/", include(release_urls)),
    path("jobs/", include("background.urls")),
    path("campaigns/", include(webhook_urls)),
    path("images/", include(image_urls)),
    path("challenges/", include("leaderboard.urls")),
    path("account/notices/", include(notice_urls)),
    path("account/", include("accounts.urls")),
    path("api/token/", TokenView.as_view(), name="api-token"),
    path("api/", include(api_urls)),
    path(
        "sign-in/",
        auth.LoginView.as_view(
            redirect_authenticated_user=True,
            authentication_form=SignInForm,
            # A function, which the template calls.
            extra_context={"sends_email": sends_email},
        ),
        name="login",
    ),
    path("sign-in/forgotten/", ForgottenView.as_view(), name="password_reset"),
    path("sign-in/forgotten/sent/", SentView.as_view(), name="password_reset_done"),
    path(
        "sign-in/new-password/<uidb64>/<token>/",
        NewPasswordView.as_view(extra_context={"sends_email": sends_email}),
        name="password_reset_confirm",
    ),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("media/<slug:size>/<int:pk>-<slug:code>.jpg", image_copy, name="image-copy"),
    path("media/<path:path>", media, name="media"),
    path("admin/", admin.site.urls),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]

handler400 = "accounts.pages.errors.bad_request"
handler403 = "accounts.pages.errors.forbidden"
handler404 = "accounts.pages.errors.not_found"
handler500 = "accounts.pages.errors.failed"
