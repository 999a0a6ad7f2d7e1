"""Validate requests against the model and convert their values.

Clients validate little (no patterns, enumerations or upper limits), so everything is checked here.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape
from django.core.exceptions import ImproperlyConfigured

from marketplace.api.errors import SerializationError, ValidationError


@cache
def service() -> ServiceModel:
    """The `mturk` model; raises ImproperlyConfigured if this botocore no longer has it."""
    try:
        return botocore.session.get_session().get_service_model("mturk")
    except botocore.exceptions.UnknownServiceError as error:
        raise ImproperlyConfigured(
            "The installed botocore no longer has the model of Mechanical Turk. Install the "
            "version that requirements.txt pins."
        ) from error


@cache
def operation(name: str) -> OperationModel:
    """The model of one operation."""
    return service().operation_model(name)


INTEGER_RANGES = {"integer": 2**31, "long": 2**63}


def validate(shape: StructureShape | None, body: dict[str, Any]) -> dict[str, Any]:
    """The request's parameters; raises SerializationError or ValidationError."""
    if shape is None:
        return {}
    problems = list(_problems(shape, body, ""))
    if problems:
        raise ValidationError(problems)
    converted: dict[str, Any] = _convert(shape, body)
    return converted


def _problems(shape: Shape, value: Any, path: str) -> Iterator[str]:
    if shape.type_name == "structure":
        yield from _structure_problems(shape, value, path)
    elif shape.type_name == "list":
        yield from _list_problems(shape, value, path)
    elif shape.type_name == "string":
        yield from _string_problems(shape, value, path)
    elif shape.type_name in INTEGER_RANGES:
        yield from _integer_problems(shape, value, path)
    elif shape.type_name == "boolean" and not isinstance(value, bool):
        raise SerializationError(f"{path} must be true or false.")
    elif shape.type_name == "timestamp":
        _timestamp(value, path)


def _structure_problems(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        raise SerializationError(f"{path or 'The request'} must be an object.")
    for name in shape.required_members:
        if value.get(name) is None:
            yield _problem(None, _join(path, name), "Member must not be null")
    for name, member in shape.members.items():
        if value.get(name) is not None:
            yield from _problems(member, value[name], _join(path, name))


def _list_problems(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        raise SerializationError(f"{path} must be a list.")
    for position, item in enumerate(value, start=1):
        if item is None:
            yield _problem(None, f"{path}.{position}.member", "Member must not be null")
        else:
            yield from _problems(shape.member, item, f"{path}.{position}.member")


def _string_problems(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        raise SerializationError(f"{path} must be a string.")
    if not can_be_stored(value):
        # The error message must not repeat these characters.
        yield _problem(None, path, "Member must not contain NUL or half of a surrogate pair")
        return
    limits = shape.metadata
    if len(value) < limits.get("min", 0):
        yield _problem(
            value, path, f"Member must have length greater than or equal to {limits['min']}"
        )
    if len(value) > limits.get("max", len(value)):
        yield _problem(
            value, path, f"Member must have length less than or equal to {limits['max']}"
        )
    if "pattern" in limits and not re.fullmatch(limits["pattern"].strip("^$"), value):
        yield _problem(
            value, path, f"Member must satisfy regular expression pattern: {limits['pattern']}"
        )
    if shape.enum and value not in shape.enum:
        yield _problem(
            value, path, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]"
        )


def can_be_stored(text: str) -> bool:
    """Whether a database takes the text: without NUL and halves of surrogate pairs."""
    return not ("\x00" in text or any("\ud800" <= character <= "\udfff" for character in text))


def _integer_problems(shape: Any, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int):
        raise SerializationError(f"{path} must be a whole number.")
    limit = INTEGER_RANGES[shape.type_name]
    if not -limit <= value < limit:
        raise SerializationError(f"{path} is out of the range of its type.")
    limits = shape.metadata
    if value < limits.get("min", value):
        yield _problem(
            value, path, f"Member must have value greater than or equal to {limits['min']}"
        )
    if value > limits.get("max", value):
        yield _problem(value, path, f"Member must have value less than or equal to {limits['max']}")


def _problem(value: Any, path: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def _join(path: str, name: str) -> str:
    name = name[0].lower() + name[1:]
    return f"{path}.{name}" if path else name


def _convert(shape: Any, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        return {
            name: _convert(member, value[name])
            for name, member in shape.members.items()
            if value.get(name) is not None
        }
    if isinstance(shape, ListShape):
        return [_convert(shape.member, item) for item in value]
    if shape.type_name == "timestamp":
        return _timestamp(value, shape.name)
    return value


def _timestamp(value: Any, path: str) -> datetime:
    """Epoch seconds or an ISO date; raises SerializationError."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise SerializationError(f"{path} must be a time in seconds since 1970.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
