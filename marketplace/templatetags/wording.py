"""Template filters: lengths of time, what a person wrote, and the value of a key."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy, pgettext

from marketplace.questions.answers import writing_in

register = template.Library()
register.filter("writing_in", writing_in)

UNITS = (
    (86_400, ngettext_lazy("{count} day", "{count} days", "count")),
    (3_600, ngettext_lazy("{count} hour", "{count} hours", "count")),
    (60, ngettext_lazy("{count} minute", "{count} minutes", "count")),
    (1, ngettext_lazy("{count} second", "{count} seconds", "count")),
)


@register.filter
def spoken(duration: timedelta) -> str:
    """The two largest units of a duration: "1 hour, 30 minutes"."""
    left = int(duration.total_seconds())
    parts = []
    for seconds, text in UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(text.format(count=count))
    return pgettext("between parts of a duration", ", ").join(parts[:2]) or _("at once")


@register.filter
def clock_time(seconds: int) -> str:
    """Seconds as a countdown: 1:02:03 or 2:03."""
    minutes, seconds = divmod(max(seconds, 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@register.filter
def of_key(values: Mapping[Any, Any], key: Any) -> Any:
    return values.get(key)
