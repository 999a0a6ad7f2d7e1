"""The registry of operations and their handlers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from marketplace.models import Requester


@dataclass(frozen=True)
class Call:
    """A valid request: its requester, its parameters and its time."""

    requester: Requester
    params: dict[str, Any]
    at: datetime
    operation: str = field(default="")

    def about(self, *filters: object) -> str:
        """Identifies a list for paging: operation, requester and filters."""
        return ":".join(map(str, (self.operation, self.requester.pk, *filters)))


Handler = Callable[[Call], dict[str, Any]]
HANDLERS: dict[str, Handler] = {}


def operation(name: str) -> Callable[[Handler], Handler]:
    """Register the decorated function as the handler of the operation."""

    def register(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return register
