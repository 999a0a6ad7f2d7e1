"""Queries that Django compiles once in each process.

Django builds the SQL of a queryset anew each time, which takes several times as long as running a
query for one row. A prepared query is written as a queryset whose values are parameters:

    @prepared
    def workers_by_key(key: Any) -> QuerySet[Worker]:
        return Worker.objects.filter(pk=key)

    workers_by_key(key=7)  # a list of rows

Its SQL depends on nothing but the code, the vendor of the one database of a process, the names of
the values, and the arguments without a name, which must be hashable. It is compiled once for each
of these, so it is never out of date. A value is never None, because `= NULL` is not `IS NULL`. A
change with `@prepared_update` is written as a queryset and the new values, and answers with the
number of changed rows.
"""

import copy
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.models import QuerySet, Value
from django.db.models.sql import Query, UpdateQuery

Row = TypeVar("Row")
Known = TypeVar("Known")
FIELDS: dict[type | tuple[type, ...], "models.Field[Any, Any]"] = {
    int: models.BigIntegerField(),
    str: models.TextField(),
    datetime: models.DateTimeField(),
    (dict, list, tuple): models.JSONField(),
}
# Statements of one function that a process keeps. They differ by the arguments without a name.
MOST_KEPT = 100


class Parameter(Value):
    """A value that is given when the query runs."""

    def __init__(self, name: str, example: Any) -> None:
        fields = (field for types, field in FIELDS.items() if isinstance(example, types))
        super().__init__(name, output_field=next(fields))
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


class _Kept(Generic[Known]):
    """What is compiled once for the arguments of a function."""

    def __init__(self, compile_: Callable[..., Known]) -> None:
        self.compile = compile_
        self.known: dict[Hashable, Known] = {}

    def get(self, shape: tuple[Hashable, ...], given: Mapping[str, Any]) -> Known:
        key = (shape, tuple(given))
        # Two threads may compile it at the same time, or one may empty the store meanwhile.
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MOST_KEPT:
                self.known.clear()
            parameters = {name: Parameter(name, value) for name, value in given.items()}
            found = self.known[key] = self.compile(*shape, **parameters)
        return found


def prepared(build: Callable[..., "QuerySet[Any, Row]"]) -> Callable[..., list[Row]]:
    """Compile the queryset at its first use; run it with the values given in each call."""
    kept = _Kept(lambda *shape, **parameters: _prepared(build(*shape, **parameters)))

    @wraps(build)
    def run(*shape: Hashable, **given: Any) -> list[Row]:
        rows = kept.get(shape, given).all()
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

    def statement_of(*shape: Hashable, **parameters: Any) -> _Statement:
        rows, changes = build(*shape, **parameters)
        query: Any = rows.query.chain(klass=UpdateQuery)
        query.add_update_values(changes)
        return _Statement(query.get_compiler(rows.db))

    kept = _Kept(statement_of)

    @wraps(build)
    def run(*shape: Hashable, **given: Any) -> int:
        statement = kept.get(shape, given)
        using = statement.compiler.using
        connection = connections[using]
        with transaction.mark_for_rollback_on_error(using), connection.cursor() as cursor:
            cursor.execute(*statement.bound(given, connection))
            return int(cursor.rowcount)

    return run
