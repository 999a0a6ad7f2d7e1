"""Log entries as JSON."""

import io
import json
import logging
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError

from shared.logs import JsonFormatter, PrivateFormatter, logging_settings, request_id

WORKER = "A2SUAM1J3GNN3B"


def entry(message, *arguments, fields=None, error=None):
    record = logging.LogRecord("hits", logging.ERROR, "path", 1, message, arguments, None)
    if fields:
        record.fields = fields
    if error:
        try:
            raise error
        except IntegrityError:
            record.exc_info = sys.exc_info()
    line = JsonFormatter().format(record)
    assert "\n" not in line
    return json.loads(line)


def test_an_entry_is_one_line_with_the_request_it_belongs_to():
    mark = request_id.set("r-1")
    try:
        written = entry("saved %s", "“three”", fields={"status": 200})
    finally:
        request_id.reset(mark)

    del written["time"]
    assert written == {
        "level": "ERROR",
        "logger": "hits",
        "message": "saved “three”",
        "request": "r-1",
        "status": 200,
    }


def test_an_entry_with_a_traceback_names_no_worker():
    written = entry("at /task/?workerId=%s", WORKER, error=IntegrityError(f"Key ({WORKER}) exists"))

    assert written["message"] == "at /task/?…"
    assert "Traceback" in written["error"]
    assert "Key ((a worker)) exists" in written["error"]


def test_an_unknown_form_of_logs_stops_the_start(monkeypatch):
    monkeypatch.setenv("LOG_FORMAT", "xml")

    with pytest.raises(ImproperlyConfigured, match="^LOG_FORMAT: "):
        logging_settings(loggers={})


def test_a_request_for_another_host_is_one_line_of_the_log(client):
    console = next(
        handler
        for handler in logging.getLogger().handlers
        if isinstance(handler.formatter, PrivateFormatter)
    )
    written = io.StringIO()
    before = console.setStream(written)
    try:
        answer = client.get("/", headers={"host": "elsewhere.example.org"})
    finally:
        console.setStream(before)

    assert answer.status_code == 400
    [line] = written.getvalue().splitlines()
    assert "ERROR django.security.DisallowedHost: Invalid HTTP_HOST header" in line
