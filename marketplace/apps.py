"""The marketplace as a Django app, and its system checks."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Info, Tags, register


def check_proxy(**_: Any) -> list[Info]:
    """Report a setting that an https site behind a proxy needs."""
    if not settings.IS_HTTPS or settings.BEHIND_PROXY:
        return []
    message = (
        "MARKETPLACE_URL is an https address and MARKETPLACE_BEHIND_PROXY is not set: the "
        "marketplace cannot tell http from https, and all workers seem to have one address."
    )
    hint = (
        "Set MARKETPLACE_BEHIND_PROXY=true if the proxy sets X-Forwarded-Proto and "
        "X-Forwarded-For itself."
    )
    return [Info(message, hint=hint, id="marketplace.I001")]


class MarketplaceConfig(AppConfig):
    name = "marketplace"
    verbose_name = "Marketplace"

    def ready(self) -> None:
        register(check_proxy, Tags.security, deploy=True)
