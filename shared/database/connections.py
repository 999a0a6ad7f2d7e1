"""Database connections of long-running processes."""

from django.db import connections


def drop_lost_connections() -> None:
    """Close each connection that is broken or too old, so that the next query opens a new one.

    Django does this between requests, and Celery between tasks. A command that loops must call it.
    Connections inside a transaction are kept: they cannot be replaced.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
