"""Turn errors of the API's views into problem details."""

import re
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from accounts.problems import CONTENT_TYPE, problem
from accounts.services.idempotency import KeyReused
from corpora.errors import DomainError


def handle_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's EXCEPTION_HANDLER: every error becomes a problem.

    A DomainError becomes status 409: the change is not possible now.
    """
    if isinstance(error, DomainError):
        status = 422 if isinstance(error, KeyReused) else 409
        return _response(problem(status, str(error), _code_of(error)), status)
    response = exception_handler(error, context)
    if response is None:
        return None
    body = _problem_of(error, response)
    return _response(body, response.status_code, _headers(response))


def _problem_of(error: Exception, response: Response) -> dict[str, Any]:
    status = response.status_code
    if isinstance(error, ValidationError):
        return problem(status, _summary(response.data), "invalid", _by_field(response.data))
    if isinstance(error, Http404 | PermissionDenied):
        code = "not_found" if status == HTTPStatus.NOT_FOUND else "permission_denied"
        return problem(status, str(response.data["detail"]), code)
    code = getattr(error, "default_code", "error")
    return problem(status, str(response.data["detail"]), str(code))


def _by_field(data: Any) -> dict[str, Any]:
    return data if isinstance(data, dict) else {"non_field_errors": data}


def _summary(data: Any, place: str = "") -> str:
    """The first message of a validation error, with the name of its field."""
    if isinstance(data, dict):
        key, value = next(iter(data.items()), ("", "The request is not valid."))
        name = "" if key in {"non_field_errors", "detail"} else str(key)
        return _summary(value, ".".join(part for part in (place, name) if part))
    if isinstance(data, list):
        return _summary(next((each for each in data if each), "The request is not valid."), place)
    return f"{place}: {data}" if place else str(data)


def _headers(response: Response) -> dict[str, str]:
    names = ("Allow", "Retry-After", "WWW-Authenticate")
    return {name: response.headers[name] for name in names if name in response.headers}


def _response(body: Any, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def _code_of(error: DomainError) -> str:
    """The name of the error's class, in the form of the other codes: already_excluded."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
