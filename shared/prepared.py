"""Queries that Django compiles once in each process.

Django builds the SQL of a queryset anew each time, which takes several times as long as running a
query for one row. A prepared query is written as a queryset whose values are parameters:

    @prepared
    def workers_by_key(key: Any) -> QuerySet[Worker]:
        return Worker.objects.filter(pk=key)

    workers_by_key(key=7)  # a list of rows

Its SQL depends on nothing but the code, the vendor of the one database of a process, the names of
the values, and the arguments without a name, which must be hashable. It is compiled once for each
of these, so it is never out of date; PostgreSQL also plans it once (`shared.server_statements`). A
value is never None, because `= NULL` is not `IS NULL`. A change with `@prepared_update` is written
as a queryset and the new values, and answers with the number of changed rows. `insert` adds rows.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, wraps
from operator import itemgetter
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet, Value
from django.db.models.query import (  # type: ignore[attr-defined]
    FlatValuesListIterable,
    ModelIterable,
    ValuesIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import InsertQuery, UpdateQuery

from shared.server_statements import Given, Statement

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


class Parameter(Given, Value):
    """A value that is given when the query runs."""

    def __init__(self, name: str, example: Any) -> None:
        fields = (field for types, field in FIELDS.items() if isinstance(example, types))
        super().__init__(name, output_field=next(fields))
        self.name = name

    def as_sql(self, *_: Any) -> tuple[str, list[Any]]:
        return "%s", [self]


class _Compiled:
    """A compiled statement, and the parameters among its values."""

    def __init__(self, name: str, compiler: Any) -> None:
        self.using: str = compiler.using
        sql, values = compiler.as_sql()
        self.parameters = [each for each in values if isinstance(each, Parameter)]
        self.statement = Statement(name, sql, values)

    def run(self, cursor: CursorWrapper, given: Mapping[str, Any]) -> None:
        self.statement.run(cursor, [*self._values(given, cursor.db)])

    def _values(self, given: Mapping[str, Any], connection: Any) -> Iterator[Any]:
        for each in self.parameters:
            value = given[each.name]
            if value is None:
                raise ValueError(f"{each.name} must not be None.")
            yield each.output_field.get_db_prep_value(value, connection)


class _Reading(_Compiled):
    """A compiled query, and how its rows become what the queryset would return."""

    def __init__(self, name: str, rows: "QuerySet[Any, Any]") -> None:
        compiler: Any = rows.query.get_compiler(rows.db)
        super().__init__(name, compiler)
        # Ordering may add columns that are not part of the result.
        self.width = compiler.col_count if compiler.has_extra_select else None
        expressions = [each[0] for each in compiler.select[: compiler.col_count]]
        self.converters = compiler.get_converters(expressions).items()
        self.read = _READERS[rows._iterable_class](compiler)

    def rows(self, given: Mapping[str, Any]) -> list[Any]:
        connection = connections[self.using]
        with connection.cursor() as cursor:
            self.run(cursor, given)
            found = cursor.fetchall()
        return [self.read(self._converted(row, connection)) for row in found]

    def _converted(self, row: Sequence[Any], connection: Any) -> list[Any]:
        """The row's values as Python values, as `SQLCompiler.apply_converters` makes them."""
        values = list(row[: self.width])
        for position, (converters, expression) in self.converters:
            for convert in converters:
                values[position] = convert(values[position], expression, connection)
        return values


Reader = Callable[[list[Any]], Any]


def _as_model(compiler: Any) -> Reader:
    """Make a row what `ModelIterable` makes of it."""
    model, columns = compiler.klass_info["model"], compiler.klass_info["select_fields"]
    first, end = columns[0], columns[-1] + 1
    names = [expression.target.attname for expression, *_ in compiler.select[first:end]]
    related = get_related_populators(compiler.klass_info, compiler.select, compiler.using)
    annotations = list((compiler.annotation_col_map or {}).items())

    def read(row: list[Any]) -> models.Model:
        found: models.Model = model.from_db(compiler.using, names, row[first:end])
        for populator in related:
            populator.populate(row, found)
        for name, position in annotations:
            setattr(found, name, row[position])
        return found

    return read


def _as_dictionary(compiler: Any) -> Reader:
    """Make a row what `ValuesIterable` makes of it."""
    query = compiler.query
    names = query.selected or [
        *query.extra_select,
        *query.values_select,
        *query.annotation_select,
    ]
    return lambda row: dict(zip(names, row, strict=True))


# What a queryset yields for a row.
_READERS: dict[type, Callable[[Any], Reader]] = {
    ModelIterable: _as_model,
    ValuesIterable: _as_dictionary,
    ValuesListIterable: lambda _compiler: tuple,
    FlatValuesListIterable: lambda _compiler: itemgetter(0),
}


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
    kept = _Kept(lambda *shape, **parameters: _Reading(build.__name__, build(*shape, **parameters)))

    @wraps(build)
    def run(*shape: Hashable, **given: Any) -> list[Row]:
        return kept.get(shape, given).rows(given)

    return run


Change = tuple["QuerySet[Any]", Mapping[str, Any]]


def prepared_update(build: Callable[..., Change]) -> Callable[..., int]:
    """Compile the update at its first use; run it with the values given in each call."""

    def statement_of(*shape: Hashable, **parameters: Any) -> _Compiled:
        rows, changes = build(*shape, **parameters)
        query: Any = rows.query.chain(klass=UpdateQuery)
        query.add_update_values(changes)
        return _Compiled(build.__name__, query.get_compiler(rows.db))

    kept = _Kept(statement_of)

    @wraps(build)
    def run(*shape: Hashable, **given: Any) -> int:
        compiled = kept.get(shape, given)
        with (
            transaction.mark_for_rollback_on_error(compiled.using),
            connections[compiled.using].cursor() as cursor,
        ):
            compiled.run(cursor, given)
            return int(cursor.rowcount)

    return run


def insert(*rows: models.Model) -> None:
    """Add rows of one model, whose keys the database makes, and set their keys.

    This is `bulk_create` without its compilation. The values are plain, no expressions.
    """
    statement, fields = _insert_of(type(rows[0]), len(rows))
    connection = connections[DEFAULT_DB_ALIAS]
    values = [
        each.get_db_prep_save(each.pre_save(row, add=True), connection)
        for row in rows
        for each in fields
    ]
    with transaction.mark_for_rollback_on_error(), connection.cursor() as cursor:
        statement.run(cursor, values)
        for row, (key,) in zip(rows, cursor.fetchall(), strict=True):
            row.pk = key
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insert_of(
    model: type[models.Model], number: int
) -> tuple[Statement, "list[models.Field[Any, Any]]"]:
    """A statement that adds this number of rows and returns their keys, and the fields of a row."""
    fields = [each for each in model._meta.concrete_fields if not each.primary_key]
    sql = _insert_sql(model, fields, number, [model._meta.pk])
    values = [Given()] * (number * len(fields))
    return Statement(f"insert_{model._meta.db_table}", sql, values), fields


@lru_cache(maxsize=MOST_KEPT)
def insert_statement(model: type[models.Model], names: tuple[str, ...], number: int) -> str:
    """The SQL that adds this number of rows with plain values of these fields, row by row."""
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    return _insert_sql(model, fields, number, [])


def _insert_sql(
    model: type[models.Model],
    fields: "Sequence[models.Field[Any, Any]]",
    number: int,
    returning: Sequence[Any],
) -> str:
    # Expressions, because Django sends plain values of several rows as an array for each column.
    row = model(**{each.attname: Value("") for each in fields})
    query: Any = InsertQuery(model)
    query.insert_values(fields, [row] * number)
    compiler: Any = query.get_compiler(DEFAULT_DB_ALIAS)
    compiler.returning_fields = returning
    ((sql, _),) = compiler.as_sql()
    return str(sql)
