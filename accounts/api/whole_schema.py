"""The API's whole schema, which a process makes once, and what it says an address takes."""

import re
from functools import cache
from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator

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
        known = _addresses()
    return next((each for address, each in known if address.fullmatch(path)), {})


@cache
def _addresses() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    return [
        (re.compile("[^/]+".join(map(re.escape, PARAMETER.split(path)))), operations)
        for path, operations in _schema()["paths"].items()
    ]


def query_of(operation: dict[str, Any]) -> set[str]:
    """The names of the operation's query parameters."""
    return {each["name"] for each in operation.get("parameters", []) if each["in"] == "query"}


def fields_of(operation: dict[str, Any]) -> set[str]:
    """The names of the fields of the operation's body; empty if it takes no body."""
    content = operation.get("requestBody", {}).get("content", {})
    return {name for each in content.values() for name in _properties(each["schema"])}


def _properties(schema: dict[str, Any]) -> set[str]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found = _schema()["components"]["schemas"][name] if name else schema
    return set(found.get("properties", {}))
