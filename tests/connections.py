"""Connections to the database: what they sent, and how the server ends them."""

from collections.abc import Mapping

import psycopg2
import pytest
from django.db import connection

cuts_connections = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has no server that could cut a connection"
)


def cut_connection() -> None:
    """Let the server end this process's connection, as a restart does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = psycopg2.connect(**connection.get_connection_params() | {"cursor_factory": None})
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    finally:
        other.close()


def sql_of(captured: Mapping[str, str]) -> str:
    """The SQL of a captured statement, also if this connection sent its name only."""
    verb, name, *_ = f"{captured['sql']} ".split(" ", 2)
    if verb != "EXECUTE":
        return captured["sql"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE name = %s", [name])
        ((prepared,),) = cursor.fetchall()
    return str(prepared).partition(" AS ")[2]
