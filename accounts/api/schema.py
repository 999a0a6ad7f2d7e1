"""The API's OpenAPI schema: how operations are described, and what it says an address takes."""

import json
import re
from collections.abc import Iterator
from functools import cache
from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from accounts.api.idempotency import HEADER, LONGEST
from accounts.problems import CONTENT_TYPE, ProblemSerializer

PARAMETER = re.compile(r"\{\w+\}")
# drf-spectacular keeps the view that it describes in an object that all threads share.
_describing = Lock()


def written(renderer: Any) -> bytes:
    """The schema as a renderer's class writes it, such as YAML."""
    with _describing:
        return _written(renderer)


@cache
def _written(renderer: Any) -> bytes:
    return bytes(renderer().render(_schema(), renderer_context={}))


@cache
def _schema() -> dict[str, Any]:
    generator: Any = SchemaGenerator  # It has no types.
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return schema


def operations_at(path: str) -> dict[str, Any]:
    """The operations of an address, by method in lower case; empty if the schema has none."""
    with _describing:
        addresses = _addresses()
    return next((operations for address, operations in addresses if address.fullmatch(path)), {})


@cache
def _addresses() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    return [
        (re.compile("[^/]+".join(map(re.escape, PARAMETER.split(path)))), operations)
        for path, operations in _schema()["paths"].items()
    ]


def query_of(operation: dict[str, Any]) -> set[str]:
    """The names of the operation's query parameters."""
    return {
        parameter["name"]
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
    }


def fields_of(operation: dict[str, Any]) -> set[str]:
    """The names of the fields of the operation's body; empty if it takes no body."""
    content = operation.get("requestBody", {}).get("content", {})
    return {name for media_type in content.values() for name in _properties(media_type["schema"])}


def _properties(schema: dict[str, Any]) -> set[str]:
    name = schema.get("$ref", "").rpartition("/")[2]
    component = _schema()["components"]["schemas"][name] if name else schema
    return set(component.get("properties", {}))


ERRORS = {
    400: "A parameter or a field is not valid; `errors` names it.",
    401: "There is no account: no token, or one that is unknown, expired or withdrawn.",
    403: "The account or its token does not have permission.",
    404: "It does not exist, or the account may not see it.",
    406: "The header Accept asks for a form that this address does not have.",
    409: "The request is not possible now.",
    413: "The body is too large.",
    415: "The body is of a type that this address does not take.",
    422: "The idempotency key belongs to another request.",
    429: "Too many requests; the header Retry-After has the seconds to wait.",
}
OF_READS = [400, 401, 403, 404, 406, 429]
OF_WRITES = [*OF_READS, 409, 413, 415]
KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="Repeat a request with its key to get the same answer without acting twice.",
)


class ApiSchema(AutoSchema):
    """Adds to each operation the errors that it can answer with."""

    def get_override_parameters(self) -> list[Any]:
        return [*super().get_override_parameters(), *([KEY] if self._is_idempotent() else [])]

    def _get_request_body(self, direction: Any = "request") -> Any:
        body = super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        if body and any(
            "required" in media_type["schema"] for media_type in body["content"].values()
        ):
            body["required"] = True
        return body

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for status in self._errors():
            if str(status) not in bodies:
                body = OpenApiResponse(ProblemSerializer, description=ERRORS[status])
                bodies[str(status)] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                    body, str(status), [CONTENT_TYPE], direction
                )
        return dict(sorted(bodies.items()))

    def _errors(self) -> list[int]:
        statuses = OF_READS if self.method == "GET" else OF_WRITES
        return [*statuses, 422] if self._is_idempotent() else statuses

    def _is_idempotent(self) -> bool:
        name = getattr(self.view, "action", None) or self.method.lower()
        return hasattr(getattr(self.view, name, None), "is_idempotent")


def defaults_in_words(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Move each default into its description, so that a generated client does not send it.

    A preset, or another key, may decide about a value that is left out.
    """
    for part in _parts(result):
        default = part.pop("default", None)
        if default in (None, "", []) or isinstance(default, dict):
            continue
        words = f"default: {default if isinstance(default, str) else json.dumps(default)}"
        about = part.get("description")
        part["description"] = f"{about} ({words})" if about else words
    return result


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of the schema, those inside others too."""
    if isinstance(value, list):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _parts(part)
