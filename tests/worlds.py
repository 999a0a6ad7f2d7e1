"""Rows that the tests of a module share: made once, and rolled back after the last of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from django.db import transaction
from django.test import Client


@contextmanager
def shared_rows(django_db_blocker: Any) -> Iterator[None]:
    """Keep what is made in this context for the tests that follow, whose changes are undone.

    For fixtures of a wider scope than a test's. No test of the module may use `transactional_db`.
    """
    # pytest-django runs each test in a transaction, which is a savepoint of this one.
    whole = transaction.atomic()
    # As in Django's TestCase: a transaction that must be the outermost one may be within this one.
    whole._from_testcase = True
    with django_db_blocker.unblock(), whole:
        yield
        transaction.set_rollback(True)


def renewed(clients: dict[str, Client]) -> dict[str, Client]:
    """Copies of the clients with their present cookies, which a test can change without harm to the
    originals."""
    return {who: _renewed(client) for who, client in clients.items()}


def _renewed(client: Client) -> Client:
    # The handler has loaded all middleware, which takes longer than most pages.
    made = Client(raise_request_exception=client.raise_request_exception)
    made.handler, made.cookies = client.handler, deepcopy(client.cookies)
    return made
