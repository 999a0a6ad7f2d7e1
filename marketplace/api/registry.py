"""Which function answers which operation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from marketplace.models import Requester


@dataclass(frozen=True)
class Call:
    """One valid request: who sent it, its parameters, and the time it counts as."""

    requester: Requester
    params: dict[str, Any]
    at: datetime
    operation: str = field(default="")

    def about(self, *filters: object) -> str:
        """The name of a list, for paging: operation, requester and filters."""
        return ":".join(map(str, (self.operation, self.requester.pk, *filters)))


Handler = Callable[[Call], dict[str, Any]]
HANDLERS: dict[str, Handler] = {}


def operation(name: str) -> Callable[[Handler], Handler]:
    """Register the decorated function as the answer to the operation."""

    def register(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return register
