"""Statements that PostgreSQL parses and plans once for each connection.

It otherwise does this whenever a statement runs, which takes longer than reading a few rows by
their key. A connection sends `PREPARE` when it first needs a statement, and from then on the
statement's name. The names end with the connection, so a connection pooler must keep connections
for a session. SQLite has no server, and its driver keeps compiled statements.
"""

from collections.abc import Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from django.db import NotSupportedError
from django.db.backends.utils import CursorWrapper
from psycopg2.extensions import AsIs

# Statements that a connection keeps. They differ by campaign, among others.
MOST_KEPT = 200
# The statements find rows by their keys, so one plan is right for all values. If the transaction is
# rolled back, so is this, and PostgreSQL compares plans, which costs time and nothing else.
ONE_PLAN = "SET plan_cache_mode = force_generic_plan"
_numbers = count(1)
# {connection of psycopg2: names of the statements that it knows}
_known: "WeakKeyDictionary[Any, set[str]]" = WeakKeyDictionary()
# {name: the statement}, to find out what a name stands for
_named: "WeakValueDictionary[str, Statement]" = WeakValueDictionary()


class Given:
    """A value that is given whenever the statement runs."""


class Statement:
    """SQL with its values, of which some are `Given`."""

    def __init__(self, name: str, sql: str, values: Sequence[Any]) -> None:
        self.name = f"{name.strip('_')}_{next(_numbers)}"
        self.sql, self.values = sql, values
        _named[self.name] = self
        places = ", ".join("%s" for each in values if isinstance(each, Given))
        self.call = f"EXECUTE {self.name} ({places})" if places else f"EXECUTE {self.name}"

    def run(self, cursor: CursorWrapper, given: Sequence[Any]) -> None:
        """Execute it with these values, in the order of their places."""
        if cursor.db.vendor == "postgresql":
            self._prepare(cursor.db)
            try:
                cursor.execute(self.call, given)
            except NotSupportedError:
                # A column has another type since then, so all statements are prepared again.
                _known.pop(cursor.db.connection, None)
                raise
        else:
            rest = iter(given)
            values = [next(rest) if isinstance(each, Given) else each for each in self.values]
            cursor.execute(self.sql, values)

    def _prepare(self, connection: Any) -> None:
        """Prepare the statement, if the connection does not know it."""
        session = connection.connection
        known = _known.setdefault(session, set())
        if self.name in known:
            return
        numbers = count(1)
        values = [
            AsIs(f"${next(numbers)}") if isinstance(each, Given) else each for each in self.values
        ]
        with connection.wrap_database_errors, session.cursor() as cursor:
            if not known or len(known) >= MOST_KEPT:
                cursor.execute(f"DEALLOCATE ALL; {ONE_PLAN}")
                known.clear()
            cursor.execute(f"PREPARE {self.name} AS {self.sql}", values)
        known.add(self.name)


def sql_of(sent: str) -> str:
    """The SQL of a statement that was sent by its name; all other SQL as it was sent."""
    verb, _, rest = sent.partition(" ")
    statement = _named.get(rest.partition(" ")[0]) if verb == "EXECUTE" else None
    return statement.sql if statement else sent
