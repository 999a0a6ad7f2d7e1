"""What has to follow a service's transaction, because it takes locks of its own.

A service that is called alone does it at once. Within `one_transaction`, which makes several
services one, it waits until that has ended. `transaction.on_commit` would wait for a test's
transaction, too.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import transaction

_waiting: ContextVar[list[Callable[[], object]] | None] = ContextVar("waiting", default=None)


def afterwards(act: Callable[[], object]) -> None:
    """Run `act` now, or at the end of `one_transaction`."""
    waiting = _waiting.get()
    if waiting is None:
        act()
    else:
        waiting.append(act)


@contextmanager
def one_transaction() -> Iterator[None]:
    """A transaction, and then what was put off until its end. Nothing of that runs if the
    transaction fails."""
    waiting: list[Callable[[], object]] = []
    token = _waiting.set(waiting)
    try:
        with transaction.atomic():
            yield
    finally:
        _waiting.reset(token)
    for act in waiting:
        act()
