"""Empty the database quickly after tests with real transactions.

Django empties a PostgreSQL database with TRUNCATE, which creates a new file for each of about sixty
tables, and then recreates all permissions. A test leaves few rows, so DELETE takes a tenth of the
time, and permissions stay. Triggers are disabled meanwhile, because they protect the decision log.
"""

from collections.abc import Sequence
from typing import Any

from django.core.management.commands import flush
from django.db import connection

KEPT = {"auth_permission", "django_content_type"}


def pytest_sessionstart() -> None:
    operations = type(connection.ops)
    sql_flush = operations.sql_flush

    def statements(self: Any, style: Any, tables: Sequence[str], **options: Any) -> list[str]:
        emptied = [table for table in tables if table not in KEPT]
        if connection.vendor == "sqlite":
            return _without_triggers(sql_flush(self, style, emptied, **options))
        # Until the end of the transaction. This disables the checks of foreign keys, too.
        return [
            "SET LOCAL session_replication_role = replica",
            *(f"DELETE FROM {self.quote_name(table)}" for table in emptied),
        ]

    operations.sql_flush = statements
    flush.emit_post_migrate_signal = lambda *_: None


def _without_triggers(statements: list[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
    return [
        *(f"DROP TRIGGER {name}" for name, _ in triggers),
        *statements,
        *(sql for _, sql in triggers),
    ]
