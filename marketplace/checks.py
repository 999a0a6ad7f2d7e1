"""System checks of the marketplace's own settings, for `check --deploy`."""

from typing import Any

from django.conf import settings
from django.core.checks import Info


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
