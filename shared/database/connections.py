"""Lost database connections: replace them, and answer requests that failed for want of one."""

import sys
from typing import Any

from django.db import InterfaceError, OperationalError, connections
from django.http import HttpResponse


def drop_lost_connections() -> None:
    """Close each connection that is broken or too old, so that the next query opens a new one.

    Django does this between requests, and Celery between tasks. A command that loops must call it.
    Connections inside a transaction are kept: they cannot be replaced.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()


STATUS = 503
RETRY_AFTER = {"Retry-After": "5", "Cache-Control": "no-store"}
MESSAGE = (
    "The site cannot reach its database at this moment. Everything that you submitted before is "
    "saved. Try again in a few seconds."
)


def is_database_away() -> bool:
    """Whether the error that is being handled is one of the database connection.

    Django calls a handler500 while it handles the error. It leaves an error of the driver as it is
    if a cursor fails as it is closed. SQLite has the same class of error for a table that does not
    exist, which no later request would find.
    """
    database: Any = connections["default"]
    error, driver = sys.exc_info()[1], database.Database
    lost = (InterfaceError, OperationalError, driver.InterfaceError, driver.OperationalError)
    return isinstance(error, lost) and not str(error).startswith("no such ")


def database_away_page() -> HttpResponse:
    """A page that needs no database, as the session and the user would."""
    page = f'<!doctype html><html lang="en"><title>Try again</title><p role="alert">{MESSAGE}</p>'
    return HttpResponse(page, status=STATUS, headers=RETRY_AFTER)
