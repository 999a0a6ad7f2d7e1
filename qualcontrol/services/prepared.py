"""Queries that are made for every response, and that Django compiles once.

For queries as small as these, compiling takes about ten times as long as the database's answer.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.sql.compiler import SQLCompiler

Rows = list[Sequence[Any]]


def prepared(build: Callable[..., QuerySet[Any, Any]]) -> Callable[..., Rows]:
    """A function that runs the `values_list` query that `build` makes of the same arguments. These
    are integers that the query compares with, in the order of its text. Fields are converted as by
    any other query."""

    @cache
    def compiled(_vendor: str, count: int) -> tuple[str, SQLCompiler]:
        compiler = build(*range(count)).query.get_compiler(connection=connection)
        return compiler.as_sql()[0], compiler

    def run(*values: int) -> Rows:
        sql, compiler = compiled(connection.vendor, len(values))
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(compiler.results_iter([cursor.fetchall()], tuple_expected=True))

    return run
