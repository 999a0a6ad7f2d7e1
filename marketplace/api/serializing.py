"""Convert responses to JSON types according to the model."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from botocore.model import ListShape, Shape, StructureShape


def shaped(shape: Shape | None, value: dict[str, Any]) -> dict[str, Any]:
    """The response as JSON types, times in epoch seconds; raises KeyError for unknown members."""
    return {} if shape is None else _shaped(shape, value)


def _shaped(shape: Any, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        return {
            name: _shaped(shape.members[name], member)
            for name, member in value.items()
            if member is not None
        }
    if isinstance(shape, ListShape):
        return [_shaped(shape.member, item) for item in value]
    if isinstance(value, datetime):
        return round(value.timestamp(), 3)
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return value
