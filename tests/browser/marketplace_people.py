"""Requesters with task pages, for browser tests of the marketplace."""

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
from playwright.sync_api import BrowserContext, BrowserType, Page

from tests.chromium import ARGUMENTS, CHROMIUM
from tests.hits.marketplace_process import MarketplaceProcess

# It tells by itself whether its cookies are shut out.
TASK_PAGE = b"""<!doctype html><html lang="en"><title>Task</title><h1>Describe the image</h1>
<form method="post"><input type="hidden" name="assignmentId">
<label>Caption <input name="caption"></label> <button>Send</button></form>
<p id="cookies"></p><script>
const told = new URLSearchParams(location.search);
const form = document.forms[0];
form.elements.assignmentId.value = told.get("assignmentId");
form.action = told.get("turkSubmitTo") + "/mturk/externalSubmit";
document.cookie = "crumb=1; SameSite=None; Secure";
document.getElementById("cookies").textContent =
  document.cookie.includes("crumb") ? "cookies kept" : "cookies shut out";
</script></html>"""
EXTERNAL = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2006-07-14/ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>400</FrameHeight>'
    "</ExternalQuestion>"
)
HTML = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{}]]></HTMLContent>'
    "<FrameHeight>400</FrameHeight></HTMLQuestion>"
)
_numbers = itertools.count(1)


class Pages(BaseHTTPRequestHandler):
    """Serves the task at /task, and at any other path the path itself."""

    def do_GET(self) -> None:
        is_task = self.path.startswith("/task")
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if is_task else "text/plain")
        self.end_headers()
        self.wfile.write(TASK_PAGE if is_task else self.path.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@contextmanager
def serving_pages() -> Iterator[str]:
    """Serve another site: `localhost` has another origin than the marketplace's 127.0.0.1."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


class Lab:
    """A requester with a HIT type."""

    def __init__(self, marketplace: MarketplaceProcess, **changes: Any) -> None:
        self.title = f"Describe an image, part {next(_numbers)}"
        keys = marketplace.fresh_requester()
        self.client = boto3.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=marketplace.url,
            aws_access_key_id=keys["access_key"],
            aws_secret_access_key=keys["secret_key"],
        )
        made = self.client.create_hit_type(
            Title=self.title,
            Description="Write one sentence that says what is in the photograph.",
            Reward="0.10",
            AssignmentDurationInSeconds=600,
            **changes,
        )
        self.hit_type_id = made["HITTypeId"]

    def post(self, question: str, *, count: int = 1) -> None:
        for _ in range(count):
            self.client.create_hit_with_hit_type(
                HITTypeId=self.hit_type_id, LifetimeInSeconds=3600, Question=question
            )

    def submitted(self) -> list[dict[str, Any]]:
        """The submitted answers of all its HITs."""
        hits = self.client.list_hits(MaxResults=100)["HITs"]
        return [
            assignment
            for hit in hits
            for assignment in self.client.list_assignments_for_hit(HITId=hit["HITId"])[
                "Assignments"
            ]
        ]


def caption(page: Page, text: str) -> None:
    """Do the task in its frame."""
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill(text)
    frame.get_by_role("button", name="Send").click()


def user_who_lets_third_parties(
    chromium: BrowserType, profile: Path, *, keep_cookies: bool
) -> BrowserContext:
    """Chromium with a third-party cookie setting of the user."""
    folder = profile / "Default"
    folder.mkdir(parents=True)
    chosen = {
        "cookie_controls_mode": 0 if keep_cookies else 1,
        "block_third_party_cookies": not keep_cookies,
    }
    (folder / "Preferences").write_text(json.dumps({"profile": chosen}))
    return chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=ARGUMENTS)
