"""The classes of the API's views: they refuse parameters and fields that the schema lacks."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db.models import Model
from rest_framework import generics, views, viewsets
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.serializers import Serializer, ValidationError

from accounts.api.schema import fields_of, operations_at, query_of

Row_co = TypeVar("Row_co", bound=Model, covariant=True)


class _WithoutFormat(DefaultContentNegotiation):
    """Leaves the parameter `format` to the view, which refuses it as it does others."""

    def filter_renderers(self, renderers: Any, format: str) -> Any:
        return renderers


class _Strict:
    """A view that reads every parameter and field, so that a misspelt one is not ignored."""

    content_negotiation_class: Any = _WithoutFormat

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)  # type: ignore[misc]  # APIView comes after it.
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        operation = operations_at(request.path_info).get(method)
        if operation is None:
            return
        _refuse_unknown("query parameter", request.query_params, query_of(operation))
        try:
            given = request.data if isinstance(request.data, Mapping) else {}
        except UnsupportedMediaType:
            return  # The view refuses it when it reads the body, if it takes one.
        _refuse_unknown("field", given, fields_of(operation))


def _refuse_unknown(what: str, given: Iterable[str], known: set[str]) -> None:
    takes = f"It takes: {', '.join(sorted(known))}." if known else "It takes none."
    sentence = f"This address has no {what} of this name. {takes}"
    if errors := {name: [sentence] for name in given if name not in known}:
        raise ValidationError(errors)


def validated(form: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The fields of the request's body; raises ValidationError."""
    read = form(data=request.data)
    read.is_valid(raise_exception=True)
    given: dict[str, Any] = read.validated_data
    return given


class APIView(_Strict, views.APIView):
    """A view of its own."""


class ListAPIView(_Strict, generics.ListAPIView[Row_co]):
    """A list of rows."""


class RetrieveAPIView(_Strict, generics.RetrieveAPIView[Row_co]):
    """One row."""


class GenericViewSet(_Strict, viewsets.GenericViewSet[Row_co]):
    """Views of rows by method."""
