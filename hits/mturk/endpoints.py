"""The marketplaces by name: where their API answers, and where their workers' pages live."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from annotate.errors import DomainError


class WrongEndpoint(DomainError):
    """The campaign belongs to another marketplace than this installation talks to."""


@dataclass(frozen=True)
class Endpoint:
    """One marketplace. `worker_origins` may frame our task page; `submit_origins` may receive a
    worker's answer, the first one where the frame's address names none."""

    name: str
    url: str
    worker_origins: tuple[str, ...]
    submit_origins: tuple[str, ...]

    @property
    def spends_money(self) -> bool:
        return self.name == "production"

    @property
    def label(self) -> str:
        """What the badge on every page says."""
        return (
            self.name if self.name in KNOWN or self.name == "local" else urlsplit(self.url).netloc
        )


# Host names: AWS's documentation of the Requester API; the workers' hosts from code deployed by
# others (docs/decisions).
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
    """The marketplace called `name`: local, sandbox, production, or one at a URL."""
    if name in KNOWN:
        return KNOWN[name]
    url = settings.MARKETPLACE_URL if name == "local" else name.rstrip("/")
    origins = (origin_of(url), *settings.MTURK_WORKER_ORIGINS)
    return Endpoint(name, url, origins, origins)


def origin_of(url: str) -> str:
    """Scheme, host and port of an address; empty if it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # such as http://[
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme and parts.netloc else ""
