"""What `check --deploy` says of the requester site's own settings."""

from typing import Any

from django.conf import settings
from django.core.checks import Info


def check_proxy(**_: Any) -> list[Info]:
    """Tell the operator what the site does not know without its proxy."""
    if not settings.IS_HTTPS or settings.BEHIND_PROXY:
        return []
    return [
        Info(
            "SITE_URL is an https address and BEHIND_PROXY is not set: unless the WSGI server "
            "itself believes the proxy's headers, the site redirects each request to https "
            "without end, and everybody seems to have the proxy's address.",
            hint="Set BEHIND_PROXY=true if the proxy sets X-Forwarded-Proto and X-Forwarded-For.",
            id="annotate.I001",
        )
    ]
