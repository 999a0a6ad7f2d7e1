"""Lets tests with real transactions empty the decision log, which its triggers forbid.

Such a test ends with a flush: TRUNCATE on PostgreSQL, which the triggers do not see, but DELETE on
SQLite. So there the guard is taken off for the flush, and put on again after it.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.backends.sqlite3.base import DatabaseWrapper

from qualcontrol.models.append_only import INSTALL, REMOVE


@pytest.fixture(scope="session", autouse=True)
def _flush_may_empty_the_decision_log() -> Iterator[None]:
    operations = DatabaseWrapper.ops_class
    flush = operations.execute_sql_flush

    def flush_without_guard(self: Any, statements: list[str]) -> None:
        with self.connection.cursor() as cursor:
            for statement in REMOVE["sqlite"]:
                cursor.execute(statement)
            flush(self, statements)
            for statement in INSTALL["sqlite"]:
                cursor.execute(statement)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "execute_sql_flush", flush_without_guard)
        yield
