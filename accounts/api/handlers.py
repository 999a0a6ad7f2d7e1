"""How the API reads bodies and answers errors."""

import json
import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, JsonResponse
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.response import Response
from rest_framework.views import exception_handler

from accounts.problems import CONTENT_TYPE, TooLarge, problem
from accounts.services.idempotency import KeyReused
from corpora.errors import DomainError


def handle_error(error: Exception, context: dict[str, Any]) -> JsonResponse | None:
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
        return _summary(next((item for item in data if item), "The request is not valid."), place)
    return f"{place}: {data}" if place else str(data)


def _headers(response: Response) -> dict[str, str]:
    names = ("Allow", "Retry-After", "WWW-Authenticate")
    return {name: response.headers[name] for name in names if name in response.headers}


def _response(body: Any, status: int, headers: dict[str, str] | None = None) -> JsonResponse:
    # Not DRF's response, which the renderer of the address would write: the schema's in YAML.
    return JsonResponse(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def _code_of(error: DomainError) -> str:
    """The name of the error's class, in the form of the other codes: already_excluded."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()


class JSONBody(BaseParser):
    """JSON of at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes whose texts a database can store."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        content = stream.read(most + 1)
        if len(content) > most:
            raise TooLarge(f"The body is larger than {most // 1000:,} kB.")
        try:
            value = json.loads(content.decode("utf-8-sig"), parse_constant=_refuse)
            _check(value)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON in UTF-8: {error}") from error
        return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a value of JSON")


def _check(value: Any) -> None:
    """Raise ValueError for texts and numbers that no database stores."""
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError("a text has a character that cannot be stored")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number is too large")
    elif isinstance(value, dict | list):
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        for part in inside:
            _check(part)
