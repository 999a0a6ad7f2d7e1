"""Queries whose SQL is built once and runs with other values each time.

Django builds the SQL of a queryset at each use. For a query with subqueries this takes longer than
the database takes to answer it. Pages that workers open, and steps of a sync that handle each
submission, state such queries once, with a `Parameter` for each value that changes.

The SQL depends on the models, the database system and the arguments of the function that states the
query. It is kept with the connection object, which belongs to one thread.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from django.db import connection, connections
from django.db.models import Expression, Field, Model, QuerySet
from django.db.models.sql import UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

Row = TypeVar("Row")
Known = TypeVar("Known")
# Statements of one function that a connection keeps. They differ by the function's arguments, such
# as campaigns.
MOST_KEPT = 100


class Parameter(Expression):
    """A value that a prepared query gets by this name when it runs."""

    def __init__(self, name: str, output_field: "Field[Any, Any] | None" = None) -> None:
        """`output_field` is needed for values that the driver takes in another form, as times."""
        super().__init__(output_field=output_field or Field())
        self.name = name

    def as_sql(self, *_: Any, **__: Any) -> tuple[str, list[Any]]:
        return "%s", [self]

    def stored(self, value: Any) -> Any:
        """The value in the form that the database driver takes."""
        return self.output_field.get_db_prep_value(value, connection)


def parameters_for(model: type[Model], *columns: str) -> dict[str, Any]:
    """A parameter for each of these columns of the model, by its name."""
    fields: dict[str, Any] = {name: model._meta.get_field(name) for name in columns}
    return {name: Parameter(name, field) for name, field in fields.items()}


class _Statement:
    """The SQL of a compiled query, and its values with parameters among them."""

    def __init__(self, compiler: SQLCompiler) -> None:
        self.sql, self.given = compiler.as_sql()

    def bound(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            each.stored(values[each.name]) if isinstance(each, Parameter) else each
            for each in self.given
        )


class _Kept(Generic[Known]):
    """What a function makes for the present connection and these arguments, made once."""

    def __init__(self, make: Callable[..., Known]) -> None:
        self.make = make
        self.by_connection: WeakKeyDictionary[Any, dict[Any, Known]] = WeakKeyDictionary()

    def get(self, arguments: tuple[Hashable, ...]) -> Known:
        known = self.by_connection.setdefault(connections[connection.alias], {})
        if arguments not in known:
            if len(known) >= MOST_KEPT:
                known.clear()
            known[arguments] = self.make(*arguments)
        return known[arguments]


class Prepared(Generic[Row]):
    """A query with parameters, stated as a queryset by a function; also a decorator of it.

    The function's arguments decide what is in the SQL. A query that locks rows runs in a
    transaction.
    """

    def __init__(self, make: Callable[..., QuerySet[Any, Row]]) -> None:
        self._make = make
        self._kept = _Kept(self._prepare)

    def _prepare(self, *arguments: Any) -> tuple[QuerySet[Any, Row], SQLCompiler, _Statement]:
        queryset = self._make(*arguments)
        compiler = queryset.query.get_compiler(queryset.db)
        statement = _Statement(compiler)
        # The queryset's iterator, which turns rows into objects, asks the query for a compiler and
        # the compiler for the SQL.
        vars(queryset.query)["get_compiler"] = lambda *_, **__: compiler
        return queryset, compiler, statement

    def rows(self, *arguments: Hashable, **values: Any) -> list[Row]:
        """Run the query that these arguments state with these values of its parameters."""
        queryset, compiler, statement = self._kept.get(arguments)
        bound = statement.bound(values)
        vars(compiler)["as_sql"] = lambda *_, **__: (statement.sql, bound)
        iterable: Any = getattr(queryset, "_iterable_class")  # noqa: B009 - not in the stubs
        return list(iterable(queryset))

    def first(self, *arguments: Hashable, **values: Any) -> Row | None:
        """Return the first row, or None."""
        return next(iter(self.rows(*arguments, **values)), None)


class PreparedUpdate:
    """An update with parameters, stated by a function as rows and their new values; also a
    decorator of it."""

    def __init__(self, make: Callable[..., tuple[QuerySet[Any], Mapping[str, Any]]]) -> None:
        self._make = make
        self._kept = _Kept(self._prepare)

    def _prepare(self, *arguments: Any) -> _Statement:
        rows, columns = self._make(*arguments)
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(columns)
        return _Statement(query.get_compiler(rows.db))

    def run(self, *arguments: Hashable, **values: Any) -> int:
        """Update the rows with these values of the parameters; return their number."""
        statement = self._kept.get(arguments)
        with connection.cursor() as cursor:
            cursor.execute(statement.sql, statement.bound(values))
            return int(cursor.rowcount)
