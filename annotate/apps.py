from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Info, Tags, register


def check_proxy(**_: Any) -> list[Info]:
    """Report settings that an https site behind a proxy may need."""
    if not settings.IS_HTTPS or settings.BEHIND_PROXY:
        return []
    return [
        Info(
            "SITE_URL is an https address, but BEHIND_PROXY is not set. Unless the WSGI server "
            "itself trusts the proxy's headers, the site redirects every request to https "
            "endlessly, and all clients appear to have the proxy's address.",
            hint="Set BEHIND_PROXY=true if the proxy sets X-Forwarded-Proto and X-Forwarded-For.",
            id="annotate.I001",
        )
    ]


class AnnotateConfig(AppConfig):
    name = "annotate"
    verbose_name = "Images, campaigns and captions"

    def ready(self) -> None:
        register(check_proxy, Tags.security, deploy=True)
