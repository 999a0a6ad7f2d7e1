"""Queries that Django compiles once in each process.

Django builds the SQL of a queryset anew each time, which takes several times as long as running a
query for one row. A prepared query is written as a queryset whose values are parameters:

    @prepared
    def workers_by_key(key: Any) -> QuerySet[Worker]:
        return Worker.objects.filter(pk=key)

    workers_by_key(key=7)  # a list of rows

Its SQL depends on nothing but the code and the vendor of the one database of a process, so it is
never out of date. A parameter is never None, because `= NULL` is not `IS NULL`. A change with
`@prepared_update` is written as a queryset and the new values, and answers with the number of
changed rows.
"""

import copy
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.models import QuerySet, Value
from django.db.models.sql import Query, UpdateQuery

Row = TypeVar("Row")
FIELDS: dict[type, "models.Field[Any, Any]"] = {
    int: models.BigIntegerField(),
    str: models.TextField(),
    datetime: models.DateTimeField(),
}


class Parameter(Value):
    """A value that is given when the query runs."""

    def __init__(self, name: str, example: Any) -> None:
        super().__init__(name, output_field=FIELDS[type(example)])
        self.name = name

    def as_sql(self, *_: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


class _Statement:
    """A compiled statement, whose values include the parameters."""

    def __init__(self, compiler: Any) -> None:
        self.compiler = compiler
        self.sql, self.values = compiler.as_sql()

    @cached_property
    def converters(self) -> Any:
        columns = [each[0] for each in self.compiler.select[: self.compiler.col_count]]
        return self.compiler.get_converters(columns)

    def bound(self, given: Mapping[str, Any], connection: Any) -> tuple[str, tuple[Any, ...]]:
        """The SQL, and its values with the given ones in the place of the parameters."""
        values: list[Any] = []
        for each in self.values:
            if isinstance(each, Parameter):
                value = given[each.name]
                if value is None:
                    raise ValueError(f"{each.name} must not be None.")
                each = each.output_field.get_db_prep_value(value, connection)
            values.append(each)
        return self.sql, tuple(values)


class _PreparedQuery(Query):
    """A query whose compiler is used again."""

    statement: _Statement
    given: Mapping[str, Any]

    def get_compiler(
        self,
        using: str | None = None,
        connection: Any = None,
        elide_empty: bool = True,  # noqa: ARG002
    ) -> Any:
        connection = connection or connections[using or DEFAULT_DB_ALIAS]
        compiler = copy.copy(self.statement.compiler)
        compiler.using, compiler.connection = using, connection
        compiler.as_sql = lambda: self.statement.bound(self.given, connection)
        # The functions that convert a row's values are the same for each connection of a vendor.
        compiler.get_converters = lambda _expressions: self.statement.converters
        return compiler


def prepared(build: Callable[..., "QuerySet[Any, Row]"]) -> Callable[..., list[Row]]:
    """Compile the queryset at its first use; run it with the values given in each call."""
    known: list[QuerySet[Any, Row]] = []

    @wraps(build)
    def run(**given: Any) -> list[Row]:
        if not known:
            known.append(_prepared(build(**_parameters(given))))
        rows = known[0].all()
        rows.query.given = given  # type: ignore[attr-defined]
        return list(rows)

    return run


def _prepared(rows: "QuerySet[Any, Row]") -> "QuerySet[Any, Row]":
    query = rows.query.chain(klass=_PreparedQuery)
    query.statement = _Statement(rows.query.get_compiler(rows.db))  # type: ignore[attr-defined]
    # Not `rows.query`, whose setter would turn `values_list` into `values`.
    rows._query = query  # type: ignore[attr-defined]
    return rows


Change = tuple["QuerySet[Any]", Mapping[str, Any]]


def prepared_update(build: Callable[..., Change]) -> Callable[..., int]:
    """Compile the update at its first use; run it with the values given in each call."""
    known: list[_Statement] = []

    @wraps(build)
    def run(**given: Any) -> int:
        if not known:
            rows, changes = build(**_parameters(given))
            query = rows.query.chain(klass=UpdateQuery)
            query.add_update_values(changes)  # type: ignore[attr-defined]
            known.append(_Statement(query.get_compiler(rows.db)))
        statement = known[0]  # Two threads may have compiled it at the same time.
        using = statement.compiler.using
        connection = connections[using]
        with transaction.mark_for_rollback_on_error(using), connection.cursor() as cursor:
            cursor.execute(*statement.bound(given, connection))
            return int(cursor.rowcount)

    return run


def _parameters(given: Mapping[str, Any]) -> dict[str, Parameter]:
    return {name: Parameter(name, value) for name, value in given.items()}
