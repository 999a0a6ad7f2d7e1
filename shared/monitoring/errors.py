"""Reports of errors to Sentry, or to a server with its protocol, without personal data."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from shared.logs import request_id, without_personal_data

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
        return {key: _clean(each) for key, each in value.items() if key not in LEFT_OUT}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value
