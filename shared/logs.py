"""Logs of both sites: to standard error, without worker ids and query strings."""

import json
import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from shared.environment import BothSites, read

# The task page's URL has the worker's id in its query string.
QUERY = re.compile(r"\?[^\s\"']+")
# The form of worker ids. A traceback may contain one, if the database quotes it in an error. Other
# long words in capitals are replaced too, which does little harm.
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,63}\b")
# The id of the request that this thread is answering.
request_id: ContextVar[str] = ContextVar("request_id", default="")


def without_personal_data(text: str) -> str:
    """The text without query strings and worker ids."""
    return WORKER_ID.sub("(a worker)", QUERY.sub("?…", text))


def without_traceback_of_refusals(record: logging.LogRecord) -> bool:
    """A filter: a request that Django refuses, such as one for another host, is one line.

    Nothing is wrong here then, and anyone can send as many as they like.
    """
    if record.name.startswith("django.security."):
        record.exc_info = None
    return True


class PrivateFormatter(logging.Formatter):
    """Removes query strings and worker ids from log entries, including tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return without_personal_data(super().format(record))


class JsonFormatter(PrivateFormatter):
    """Writes each entry as one line of JSON, with the id of its request.

    An entry has further keys if it was logged with `extra={"fields": …}`.
    """

    def format(self, record: logging.LogRecord) -> str:
        # The base class adds the traceback to the message. Here it has a key of its own.
        error = self.formatException(record.exc_info) if record.exc_info else ""
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": without_personal_data(record.getMessage()),
            "request": request_id.get(),
            "error": without_personal_data(error),
        }
        filled = {name: value for name, value in entry.items() if value}
        return json.dumps({**filled, **getattr(record, "fields", {})}, ensure_ascii=False)


def logging_settings(*, loggers: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of `logging` for these loggers; raises ImproperlyConfigured."""
    variables = read(BothSites)
    formatter = JsonFormatter if variables.log_format == "json" else PrivateFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "private": {
                "()": f"shared.logs.{formatter.__name__}",
                "format": "{asctime} {levelname} {name}: {message}",
                "style": "{",
            }
        },
        "filters": {"refusals": {"()": lambda: without_traceback_of_refusals}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "private",
                "filters": ["refusals"],
            }
        },
        "root": {"handlers": ["console"], "level": variables.log_level},
        "loggers": dict(loggers),
    }
