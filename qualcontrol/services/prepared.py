"""Reads that are made for every response. Django writes their SQL once: for queries as small as
these, writing takes it ten times as long as the database takes to answer."""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet

Rows = list[tuple[Any, ...]]


def prepared(build: Callable[..., QuerySet]) -> Callable[..., Rows]:
    """A function that runs the query that `build` makes of the same arguments, which are values
    that it compares with, in the order of the query. Columns come as the database has them."""

    @cache
    def sql(vendor: str, build: Callable[..., QuerySet], count: int) -> str:
        return build(*range(count)).query.sql_with_params()[0]

    def run(*values: Any) -> Rows:
        with connection.cursor() as cursor:
            cursor.execute(sql(connection.vendor, build, len(values)), values)
            return cursor.fetchall()

    return run
