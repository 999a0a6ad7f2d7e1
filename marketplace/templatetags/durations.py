"""Template filters for lengths of time."""

from datetime import timedelta

from django import template

register = template.Library()

UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


@register.filter
def spoken(duration: timedelta) -> str:
    """The two largest units of a duration: "1 hour, 30 minutes"."""
    left = int(duration.total_seconds())
    parts = []
    for name, seconds in UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {name}{'' if count == 1 else 's'}")
    return ", ".join(parts[:2]) or "at once"


@register.filter
def clock_time(seconds: int) -> str:
    """Seconds as a countdown: 1:02:03 or 2:03."""
    minutes, seconds = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
