"""Variables for every template."""

from django.conf import settings
from django.http import HttpRequest


def installation(_request: HttpRequest) -> dict[str, str]:
    """The marketplace that this site uses, for the badge on every page."""
    return {"mturk_endpoint": settings.MTURK_ENDPOINT}
