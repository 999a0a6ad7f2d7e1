"""The form of the API's errors: problem details (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework import serializers
from rest_framework.exceptions import APIException

CONTENT_TYPE = "application/problem+json"
PREFIX = "/api/"


class ProblemSerializer(serializers.Serializer[Any]):
    """An error: problem details as RFC 9457 defines them."""

    type = serializers.CharField(help_text="always about:blank: the status says what it is")
    title = serializers.CharField(help_text="the status in words")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="what is wrong, and what to do")
    code = serializers.CharField(help_text="the kind of error, for programs")
    errors = serializers.JSONField(  # type: ignore[assignment]
        required=False, help_text="with status 400: the messages of each wrong field"
    )


class TooLarge(APIException):
    """The body of the request is larger than the site reads."""

    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def problem(status: int, detail: str, code: str, errors: Any = None) -> dict[str, Any]:
    """The body of an error."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
    }
    return body if errors is None else {**body, "errors": errors}


def problem_response(
    status: int, detail: str, code: str, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A problem as a response of a plain Django view."""
    body = problem(status, detail, code)
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE, headers=headers)


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(PREFIX)
