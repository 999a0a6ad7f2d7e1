"""Pages and filters of the API's lists."""

from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db.models import QuerySet
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

# What a cursor raises: it is text, so its position can be anything.
WRONG_CURSOR = (NotFound, ValueError, TypeError, OverflowError, DjangoValidationError)


class Pages(CursorPagination):
    """Pages by cursor, in the order of the query: all pages take the same time, and new rows do
    not shift them. The parameter `limit` sets how many rows a page has."""

    page_size = 100
    page_size_query_param = "limit"
    page_size_query_description = "Rows of a page, from 1 to 500."
    max_page_size = 500
    cursor_query_description = "Where the page begins, as in `next` and `previous`."
    ordering = "pk"

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except WRONG_CURSOR as error:
            raise ValidationError({"cursor": ["This is not a cursor of this list."]}) from error

    def get_page_size(self, request: Request) -> int:
        asked = request.query_params.get("limit")
        if asked is None:
            return self.page_size
        is_number = asked.isascii() and asked.isdigit() and len(asked) < 10
        if not (is_number and 1 <= int(asked) <= self.max_page_size):
            message = f"Use a number from 1 to {self.max_page_size}."
            raise ValidationError({"limit": [message]})
        return int(asked)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        return tuple(queryset.query.order_by) or ("pk",)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        parameters = super().get_schema_operation_parameters(view)
        for parameter in parameters:
            if parameter["name"] == "limit":
                parameter["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return parameters

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        whole = super().get_paginated_response_schema(schema)
        for name in ("next", "previous"):
            whole["properties"][name].pop("example", None)
        return {**whole, "required": ["next", "previous", "results"]}


class CountedPages(Pages):
    """Pages by cursor with `count`, the number of all rows, for short lists."""

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        self.count = queryset.count()
        return super().paginate_queryset(queryset, request, view)

    def get_paginated_response(self, data: Any) -> Response:
        answer = super().get_paginated_response(data)
        answer.data = {"count": self.count, **answer.data}
        return answer

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        whole = super().get_paginated_response_schema(schema)
        properties = {"count": {"type": "integer"}, **whole["properties"]}
        return {**whole, "required": ["count", *whole["required"]], "properties": properties}


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
