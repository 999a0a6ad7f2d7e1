"""The marketplace's clock. Services get the time as an argument; their callers ask this clock."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

_offset = timedelta()


def now() -> datetime:
    """The current time, plus the offset set by `advance`."""
    return timezone.now() + _offset


def advance(by: timedelta) -> None:
    """Advance the clock of this process; raises RuntimeError unless test hooks are on."""
    global _offset
    if not settings.TEST_HOOKS:
        raise RuntimeError("The clock can only be set if MARKETPLACE_TEST_HOOKS is true.")
    _offset += by


def reset() -> None:
    """Return to real time."""
    global _offset
    _offset = timedelta()
