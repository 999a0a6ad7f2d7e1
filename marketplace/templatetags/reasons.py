"""A template filter that looks up a value by its key."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def of_key(values: Mapping[Any, Any], key: Any) -> Any:
    """The value for the key, or None."""
    return values.get(key)
