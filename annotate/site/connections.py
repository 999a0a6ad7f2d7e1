"""Database connections of processes that run for a long time."""

from django.db import connections


def drop_lost_connections() -> None:
    """Close each connection that broke or is too old, so that the next query opens a new one.

    Requests and Celery tasks do this between each other; a command that loops must do it itself.
    Inside a transaction nothing happens: its connection cannot be replaced.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
