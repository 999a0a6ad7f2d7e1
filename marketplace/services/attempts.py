"""Limit how often an action may be attempted, per account and per address."""

from datetime import datetime

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from marketplace.errors import TooManyAttempts
from marketplace.models import Attempt

_SALT = "marketplace.attempts"


def count_attempt(*, what: str, who: str, most: int, at: datetime) -> None:
    """Record an attempt; raises TooManyAttempts if it is above the limit.

    An attempt is recorded before counting, so that concurrent attempts count each other. Attempts
    above the limit are not recorded: further attempts neither fill the table nor prolong the wait.
    """
    key = _key(what, who)
    recent = Attempt.objects.filter(key=key, made_at__gt=at - settings.ATTEMPTS_WITHIN)
    if recent.count() < most:
        Attempt.objects.create(key=key, made_at=at)
        if recent.count() <= most:
            return
    raise TooManyAttempts(_("Too many attempts. Wait 15 minutes, then try again."))


def forget_attempts(*, what: str, who: str) -> None:
    """Reset the count after a success."""
    Attempt.objects.filter(key=_key(what, who)).delete()


def _key(what: str, who: str) -> str:
    return salted_hmac(_SALT, f"{what}:{who}", algorithm="sha256").hexdigest()
