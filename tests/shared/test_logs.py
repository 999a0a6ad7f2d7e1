"""Log entries as JSON."""

import io
import json
import logging
import sys
import threading

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError

from shared.logs import (
    JsonFormatter,
    LogLines,
    PrivateFormatter,
    logging_settings,
    request_id,
    without_needless_traceback,
)

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


def test_the_output_of_a_program_is_an_entry_a_line(caplog):
    stream = LogLines(logging.INFO)

    with caplog.at_level(logging.INFO):
        print("Applying 0001_initial...", end="", file=stream)
        print(" OK\n\n2 migrations.", file=stream)

    assert caplog.messages == ["Applying 0001_initial... OK", "2 migrations."]


@pytest.fixture
def json_logs(monkeypatch):
    """The entries of a process with LOG_FORMAT=json so far."""
    for module, name in [(sys, "excepthook"), (threading, "excepthook")]:
        monkeypatch.setattr(module, name, getattr(module, name))
    monkeypatch.setenv("LOG_FORMAT", "json")
    logging_settings(loggers={})
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)
    logging.captureWarnings(False)


def fail():
    raise ValueError(f"{WORKER} is unknown")


def test_an_error_that_nobody_catches_is_an_entry(json_logs):
    try:
        fail()
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()

    assert [entry["level"] for entry in json_logs()] == ["CRITICAL", "ERROR"]
    assert all("(a worker) is unknown" in entry["error"] for entry in json_logs())
    assert all("Traceback" in entry["error"] for entry in json_logs())


@pytest.mark.parametrize("status", [403, 503])
def test_a_request_that_is_refused_or_has_no_database_is_an_entry_without_a_traceback(status):
    record = logging.LogRecord("django.request", logging.ERROR, "path", 1, "no", (), (1, 2, 3))
    record.status_code = status

    assert without_needless_traceback(record)
    assert record.exc_info is None


def test_another_failure_keeps_its_traceback():
    record = logging.LogRecord("django.request", logging.ERROR, "path", 1, "no", (), (1, 2, 3))
    record.status_code = 500

    assert without_needless_traceback(record)
    assert record.exc_info == (1, 2, 3)
