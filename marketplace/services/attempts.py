"""Limits on how often something may be tried, per account and per address."""

from datetime import datetime

from django.conf import settings
from django.utils.crypto import salted_hmac

from marketplace.errors import TooManyAttempts
from marketplace.models import Attempt

_SALT = "marketplace.attempts"


def count_attempt(*, what: str, who: str, most: int, at: datetime) -> None:
    """Note one more try; raises TooManyAttempts where it is beyond the limit.

    A try is noted before it is counted, so that many tries at once find each other. Tries beyond
    the limit are not noted: nobody fills the table, or prolongs the wait, by trying on.
    """
    key = _key(what, who)
    recent = Attempt.objects.filter(key=key, made_at__gt=at - settings.ATTEMPTS_WITHIN)
    if recent.count() < most:
        Attempt.objects.create(key=key, made_at=at)
        if recent.count() <= most:
            return
    raise TooManyAttempts("Too many attempts. Wait 15 minutes, then try again.")


def forget_attempts(*, what: str, who: str) -> None:
    """Begin to count anew, after a success."""
    Attempt.objects.filter(key=_key(what, who)).delete()


def _key(what: str, who: str) -> str:
    return salted_hmac(_SALT, f"{what}:{who}", algorithm="sha256").hexdigest()
