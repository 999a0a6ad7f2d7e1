"""Limits on how often something may be tried, per account and per address."""

from datetime import datetime

from django.conf import settings
from django.utils.crypto import salted_hmac

from marketplace.errors import TooManyAttempts
from marketplace.models import Attempt

_SALT = "marketplace.attempts"


def count_attempt(*, what: str, who: str, most: int, at: datetime) -> None:
    """Note one more try; raises TooManyAttempts where it is beyond the limit.

    Noted before it is looked at, so that many tries at once find each other.
    """
    key = _key(what, who)
    Attempt.objects.create(key=key, made_at=at)
    since = at - settings.ATTEMPTS_WITHIN
    if Attempt.objects.filter(key=key, made_at__gt=since).count() > most:
        raise TooManyAttempts(
            "There were too many tries. Wait a quarter of an hour, then try again."
        )


def forget_attempts(*, what: str, who: str) -> None:
    """Begin to count anew, after a success."""
    Attempt.objects.filter(key=_key(what, who)).delete()


def forget_old_attempts(*, at: datetime) -> int:
    """Delete what no limit looks at any more; returns how many there were."""
    return Attempt.objects.filter(made_at__lte=at - settings.ATTEMPTS_WITHIN).delete()[0]


def _key(what: str, who: str) -> str:
    return salted_hmac(_SALT, f"{what}:{who}", algorithm="sha256").hexdigest()
