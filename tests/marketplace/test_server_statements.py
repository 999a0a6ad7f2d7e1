"""PostgreSQL plans a prepared statement once for each connection."""

from typing import Any

import pytest
from django.db import NotSupportedError, connection, transaction

from marketplace.models import Worker
from shared import server_statements
from shared.prepared import prepared
from tests.marketplace.factories import make_worker

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server"),
]


@prepared
def workers_called(name: Any) -> Any:
    return Worker.objects.filter(name=name)


@prepared
def workers_from(first: int, *, name: Any) -> Any:
    return Worker.objects.filter(pk__gte=first, name=name)


@pytest.fixture(autouse=True)
def new_connection():
    """A connection that knows no statement."""
    connection.close()
    yield
    connection.close()


def known() -> dict[str, int]:
    """{name of a statement that the connection knows: how often its one plan was used}"""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, generic_plans FROM pg_prepared_statements")
        return dict(cursor.fetchall())


def test_a_statement_is_planned_once_by_each_connection():
    worker = make_worker()

    for plans in (3, 2):
        connection.close()
        for _ in range(plans):
            assert workers_called(name=worker.name) == [worker]
        ((name, used),) = known().items()
        assert name.startswith("workers_called_")
        assert '"marketplace_worker"."name" = %s' in server_statements.sql_of(f"EXECUTE {name} (1)")
        assert used == plans


def test_a_statement_outlives_the_transaction_that_first_used_it():
    worker = make_worker()

    with transaction.atomic():
        workers_called(name=worker.name)
        transaction.set_rollback(True)

    assert workers_called(name=worker.name) == [worker]
    assert len(known()) == 1


def test_a_connection_keeps_a_limited_number_of_statements(monkeypatch):
    monkeypatch.setattr(server_statements, "MOST_KEPT", 3)
    worker = make_worker()

    for first in (1, 2, 3, 4, 1, 2, 3, 4):
        assert workers_from(first - worker.pk, name=worker.name) == [worker]
        assert 1 <= len(known()) <= 3


def resize_country(length: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE marketplace_worker ALTER country TYPE varchar({length})")


def test_a_changed_column_fails_one_transaction_and_not_the_next():
    worker = make_worker()
    workers_called(name=worker.name)
    resize_country(70)

    with pytest.raises(NotSupportedError):
        workers_called(name=worker.name)

    assert workers_called(name=worker.name) == [worker]
    resize_country(2)
