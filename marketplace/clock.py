"""The marketplace's clock. Services get the time as an argument; their callers ask this clock."""

from datetime import datetime, timedelta

from django.utils import timezone

_offset = timedelta()


def now() -> datetime:
    """The current time, plus the offset that a test has set."""
    return timezone.now() + _offset


def set_offset(offset: timedelta) -> None:
    """Make the clock of this process fast; see `services.rehearsals`."""
    global _offset
    _offset = offset
