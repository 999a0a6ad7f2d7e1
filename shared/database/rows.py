"""Read single rows by a unique column, for the requests that each caption takes."""

from typing import TypeVar

from django.db.models import Model

Row = TypeVar("Row", bound=Model)


def row_with(model: type[Row], column: str, value: int | str) -> Row | None:
    """The row with this value in a unique column, or None.

    In plain SQL: a queryset takes Django twice as long, and joining several such rows takes both
    Django and PostgreSQL longer than reading them one by one.
    """
    statement = f'SELECT * FROM "{model._meta.db_table}" WHERE "{column}" = %s'
    return next(iter(model._default_manager.raw(statement, [value])), None)


def row_of(model: type[Row], key: int) -> Row:
    """The row that a foreign key names."""
    row = row_with(model, "id", key)
    assert row is not None, "the database keeps rows that others name"
    return row
