"""The one clock: services are told the time, and everything that tells them asks here."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

_offset = timedelta()


def now() -> datetime:
    """The current time, moved by `advance` where test hooks are switched on."""
    return timezone.now() + _offset


def advance(by: timedelta) -> None:
    """Move the clock of this process; raises RuntimeError unless test hooks are switched on."""
    global _offset
    if not settings.TEST_HOOKS:
        raise RuntimeError("The clock can only be set if MARKETPLACE_TEST_HOOKS is true.")
    _offset += by


def reset() -> None:
    """Return to the real time."""
    global _offset
    _offset = timedelta()
