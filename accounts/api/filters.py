"""Filters of lists."""

from typing import Any

import django_filters
from django import forms


class Filters(django_filters.FilterSet):  # type: ignore[misc]  # django-filter has no types.
    """Filters that a list names itself; the fields of the model are not filters."""


class _TrueOrFalseField(forms.NullBooleanField):
    """Django's own field reads every other word as no choice, which is every row."""

    widget = forms.TextInput
    words = {"true": True, "1": True, "false": False, "0": False}

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override]
        if value in (None, ""):
            return None
        if str(value).lower() not in self.words:
            raise forms.ValidationError("Use true or false.")
        return self.words[str(value).lower()]


class BooleanFilter(django_filters.BooleanFilter):  # type: ignore[misc]
    """A filter by `true` or `false`; any other value is refused."""

    field_class = _TrueOrFalseField
