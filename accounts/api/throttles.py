"""Limits on the number of requests of each token."""

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from accounts.models import ApiToken


class _ByToken(SimpleRateThrottle):
    """Counts the requests of a token, or of a session, in each web process."""

    setting: str
    of_reads: bool

    def get_rate(self) -> str | None:
        limit = getattr(settings, self.setting)
        return f"{limit}/minute" if limit else None

    def get_cache_key(self, request: Request, view: object) -> str | None:
        if (request.method in SAFE_METHODS) != self.of_reads:
            return None
        if isinstance(request.auth, ApiToken):
            who: str | None = request.auth.digest
        else:
            # Requests without an account are refused before, or limited by wrong passwords.
            who = request.session.session_key if request.user.is_authenticated else None
        return who and f"throttle-{self.setting}-{who}"


class ReadsByToken(_ByToken):
    setting, of_reads = "API_READS_PER_MINUTE", True


class WritesByToken(_ByToken):
    setting, of_reads = "API_WRITES_PER_MINUTE", False
