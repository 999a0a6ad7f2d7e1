"""What `check --deploy` says of the marketplace's own settings."""

from typing import Any

from django.conf import settings
from django.core.checks import Info


def check_proxy(**_: Any) -> list[Info]:
    """Tell the operator what the marketplace does not know without its proxy."""
    if not settings.IS_HTTPS or settings.BEHIND_PROXY:
        return []
    told = (
        "MARKETPLACE_URL is an https address and MARKETPLACE_BEHIND_PROXY is not set: the "
        "marketplace cannot tell http from https, and all workers seem to have one address."
    )
    hint = (
        "Set MARKETPLACE_BEHIND_PROXY=true if the proxy sets X-Forwarded-Proto and "
        "X-Forwarded-For itself."
    )
    return [Info(told, hint=hint, id="marketplace.I001")]
