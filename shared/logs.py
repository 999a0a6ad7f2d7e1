"""Logs and reports of errors of both sites, without worker ids and query strings."""

import io
import json
import logging
import re
import sys
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from shared.environment import BothSites, read

log = logging.getLogger(__name__)

# The task page's URL has the worker's id in its query string.
QUERY = re.compile(r"\?[^\s\"']+")
# The form of worker ids. A traceback may contain one, if the database quotes it in an error. Other
# long words in capitals are replaced too, which does little harm.
WORKER_ID = re.compile(r"\bA[A-Z0-9]{9,63}\b")
# Answers whose log entry needs no traceback.
NEEDLESS = {HTTPStatus.FORBIDDEN, HTTPStatus.SERVICE_UNAVAILABLE}
# The id of the request that this thread is answering.
request_id: ContextVar[str] = ContextVar("request_id", default="")


def without_personal_data(text: str) -> str:
    """The text without query strings and worker ids."""
    return WORKER_ID.sub("(a worker)", QUERY.sub("?…", text))


def without_needless_traceback(record: logging.LogRecord) -> bool:
    """A filter: log a refused request, or one that fails because the database cannot be reached,
    in one line.

    Nothing is wrong in the site then, and there can be hundreds of them in a second.
    """
    if getattr(record, "status_code", None) in NEEDLESS or record.name.startswith(
        "django.security."
    ):
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
        # The base class adds the traceback to the message. Here it has its own key.
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


class LogLines(io.TextIOBase):
    """A stream whose lines become log entries, for the output of programs that run for long."""

    def __init__(self, level: int) -> None:
        self.level, self.begun = level, ""

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        for line in filter(None, map(str.strip, lines)):
            log.log(self.level, "%s", line)
        return len(text)


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    if issubclass(kind, KeyboardInterrupt):
        log.info("The process was interrupted.")
    else:
        log.critical("The process ends with an error.", exc_info=(kind, error, trace))


def _log_uncaught_in_thread(given: threading.ExceptHookArgs) -> None:
    log.error("A thread ended with an error.", exc_info=given.exc_value)


def logging_settings(*, loggers: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of `logging` for these loggers; raises ImproperlyConfigured.

    With LOG_FORMAT=json, what Python itself prints becomes entries, too: warnings and errors that
    nobody catches.
    """
    variables = read(BothSites)
    is_json = variables.log_format == "json"
    if is_json:
        logging.captureWarnings(True)
        sys.excepthook, threading.excepthook = _log_uncaught, _log_uncaught_in_thread
    formatter = JsonFormatter if is_json else PrivateFormatter
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
        "filters": {"needless": {"()": lambda: without_needless_traceback}},
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "private",
                "filters": ["needless"],
            }
        },
        "root": {"handlers": ["console"], "level": variables.log_level},
        "loggers": dict(loggers),
    }


# PostgreSQL quotes the values of the row that it refuses, which can be a worker's answer.
DETAIL = re.compile(r"\s*(DETAIL|CONTEXT):.*", re.DOTALL)
# Where an event has addresses with tokens, headers, forms, and the values of variables.
LEFT_OUT = frozenset({"request", "user", "breadcrumbs", "extra", "vars", "server_name"})


def report_errors(dsn: str) -> None:
    """Send unhandled errors and logged ones to this address; nothing if it is empty.

    Raises ImproperlyConfigured if the package that sends them is not installed.
    """
    if not dsn:
        return
    try:
        import sentry_sdk  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise ImproperlyConfigured(
            "SENTRY_DSN needs a package: pip install -r requirements-monitoring.in"
        ) from error
    sentry_sdk.init(
        dsn=dsn,
        before_send=lambda event, _hint: scrubbed(event),  # type: ignore[arg-type,return-value]
        include_local_variables=False,
        max_breadcrumbs=0,
        max_request_body_size="never",
    )
    # Its own messages are formatted as ours are.
    logging.getLogger("sentry_sdk.errors").handlers.clear()


def scrubbed(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event without requests, users, variables, worker ids and stored values.

    The id of the request stays, which the log has, too.
    """
    kept = {key: _clean(value) for key, value in event.items() if key not in LEFT_OUT}
    return {**kept, "tags": {"request": request_id.get()}}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return without_personal_data(DETAIL.sub("", value))
    if isinstance(value, Mapping):
        return {key: _clean(part) for key, part in value.items() if key not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    return value
