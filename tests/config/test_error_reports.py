"""Reports of errors: what arrives at the server, and what does not."""

import gzip
import json
import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import sentry_sdk
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError

from shared.logs import report_errors
from tests.factories import CampaignFactory

WORKER = "A1B2C3D4E5F6G7"
CAPTION = "A brown dog jumps over a fence."


@pytest.fixture
def reports():
    """The reports that a server of Sentry's protocol receives, and its address."""
    received = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            packed = self.headers.get("Content-Encoding") == "gzip"
            received.append((gzip.decompress(body) if packed else body).decode())
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield received, f"http://key@127.0.0.1:{server.server_port}/1"
    sentry_sdk.get_client().close()
    sentry_sdk.get_global_scope().set_client(None)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.django_db
def test_a_report_holds_no_personal_data(reports, client, monkeypatch):
    received, dsn = reports
    report_errors(dsn)
    assert logging.getLogger("sentry_sdk.errors").handlers == []
    CampaignFactory(slug="pilot")

    def fail(*_args, **_kwargs):
        answer = CAPTION  # a variable of the frame
        raise IntegrityError(
            f"worker {WORKER} repeats /task/pilot/?workerId={WORKER}\n"
            f"DETAIL:  Failing row contains ({answer})."
        )

    monkeypatch.setattr("hits.pages.task_page.page._preview", fail)
    client.raise_request_exception = False
    client.get("/task/pilot/", {"workerId": WORKER})
    sentry_sdk.flush(10)

    whole = "".join(received)
    assert "IntegrityError" in whole
    assert "(a worker) repeats /task/pilot/?" in whole
    assert WORKER not in whole
    assert CAPTION not in whole
    assert all(json.loads(line) for line in whole.splitlines() if line)


def test_nothing_is_sent_without_an_address():
    report_errors("")

    assert not sentry_sdk.get_client().is_active()


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)

    with pytest.raises(ImproperlyConfigured, match="requirements-monitoring"):
        report_errors("http://key@127.0.0.1:9/1")
