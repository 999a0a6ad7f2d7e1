"""The marketplaces by name, with the addresses of their APIs and of their workers' pages."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from corpora.errors import DomainError


class WrongEndpoint(DomainError):
    """The campaign belongs to another marketplace than the one in MTURK_ENDPOINT."""


@dataclass(frozen=True)
class Endpoint:
    """One marketplace.

    Pages at `worker_origins` may show our task page in a frame. Answers may be sent to
    `submit_origins`, and to the first of these if the frame's address names no origin.
    """

    name: str
    url: str
    worker_origins: tuple[str, ...]
    submit_origins: tuple[str, ...]

    @property
    def spends_money(self) -> bool:
        return self.name == "production"

    @property
    def label(self) -> str:
        """Text of the badge on every page."""
        return (
            self.name if self.name in KNOWN or self.name == "local" else urlsplit(self.url).netloc
        )


# The API's host names are from AWS's documentation of the Requester API, and the workers' host
# names from programs that others have deployed (docs/decisions).
KNOWN = {
    "production": Endpoint(
        "production",
        "https://mturk-requester.us-east-1.amazonaws.com",
        ("https://worker.mturk.com", "https://www.mturk.com"),
        ("https://www.mturk.com", "https://worker.mturk.com"),
    ),
    "sandbox": Endpoint(
        "sandbox",
        "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        ("https://workersandbox.mturk.com",),
        ("https://workersandbox.mturk.com",),
    ),
}


def endpoint_of(name: str) -> Endpoint:
    """The marketplace with this name: local, sandbox, production, or the URL of an API."""
    if name in KNOWN:
        return KNOWN[name]
    url = settings.MARKETPLACE_URL if name == "local" else name.rstrip("/")
    origins = (origin_of(url), *settings.MTURK_WORKER_ORIGINS)
    return Endpoint(name, url, origins, origins)


def is_amazons(name: str) -> bool:
    """Whether this is Mechanical Turk or its sandbox, and not one's own marketplace."""
    return name in KNOWN


def origin_of(url: str) -> str:
    """The scheme, host and port of an address; empty if one is missing or it is invalid."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as http://[
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""
