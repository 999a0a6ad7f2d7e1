"""The answer to a request that failed because the database cannot be reached.

A restart of the database cuts connections, also in the middle of requests. The same request
succeeds a moment later, so the client is told to repeat it.
"""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse

STATUS = 503
RETRY_AFTER = {"Retry-After": "5", "Cache-Control": "no-store"}
MESSAGE = (
    "The site cannot reach its database at this moment. Everything that you submitted before is "
    "saved. Try again in a few seconds."
)


def is_database_away() -> bool:
    """Whether the error that is being handled is one of the database connection.

    Django calls a handler500 while it handles the error. SQLite has the same class of error for a
    table that does not exist, which no later request would find.
    """
    error = sys.exc_info()[1]
    is_missing = str(error).startswith("no such ")
    return isinstance(error, InterfaceError | OperationalError) and not is_missing


def database_away_page() -> HttpResponse:
    """A page that needs no database, as the session and the user would."""
    page = f'<!doctype html><html lang="en"><title>Try again</title><p role="alert">{MESSAGE}</p>'
    return HttpResponse(page, status=STATUS, headers=RETRY_AFTER)
