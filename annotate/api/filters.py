"""Filters of lists."""

import django_filters


class Filters(django_filters.FilterSet):  # type: ignore[misc]  # django-filter has no types.
    """Filters that a list names itself; the fields of the model are not filters."""
