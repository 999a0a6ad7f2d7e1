"""Connections to the database that the server ends."""

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
