"""A worker's browser that costs little, so that a benchmark's load is the sites' own.

It keeps connections open, reads no more of a page than it needs for the next request, and loads
neither images nor scripts.
"""

import http.client
import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

TIMEOUT = 60.0
# Servers close a connection that was not used for a while.
IDLE = 20.0
RELOADS, RELOADS_AFTER = 20, 0.5
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
FRAME = re.compile(r'<iframe[^>]* src="([^"]+)"')
ACTION = re.compile(r'<form method="post" action="([^"]+)"[^>]* data-task')
FORWARD_TO = re.compile(r'data-forward-to="([^"]+)"')
ASSIGNMENT = re.compile(r'data-assignment="([^"]+)"')
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
FIELD = re.compile(r'<textarea[^>]* name="([^"]+)"')
REASON = re.compile(r'<select[^>]* name="([^"]+)".*?<option value="([^"]+)"', re.DOTALL)
IMAGE = re.compile(r'<img src="([^"]+)"')
NOTHING_LEFT = "data-nothing-left"

_connections = threading.local()


class NoAnswer(Exception):
    """The server closed the connection, or did not answer."""


class Unexpected(Exception):
    """The server answered something else than the page that was asked for."""

    def __init__(self, answer: "Answer") -> None:
        super().__init__(f"{answer.url} answered {answer.status}: {answer.text[:500]}")
        self.status = answer.status


class NotOffered(Exception):
    """The marketplace offers this worker no HIT of the group."""


class NothingLeft(Exception):
    """The task page has no task for this worker."""


@dataclass(frozen=True)
class Answer:
    """A server's answer."""

    url: str
    status: int
    text: str
    location: str


@dataclass(frozen=True)
class TaskPage:
    """The parts of a task page that are needed to answer it."""

    action: str
    forward_to: str
    assignment: str
    hidden: Mapping[str, str]
    field: str
    # The first reason why an image cannot be described, by its field; empty if there is none.
    reason: Mapping[str, str]
    image: str


def ask(
    method: str,
    url: str,
    *,
    body: str = "",
    headers: Mapping[str, str] | None = None,
    cookies: dict[str, str] | None = None,
) -> Answer:
    """Send one request over this thread's open connection to the server; raises NoAnswer."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    sent = dict(headers or {})
    if cookies:
        sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    connection = _connection(parts.netloc)
    try:
        connection.request(method, target, body or None, sent)
        got = connection.getresponse()
        text = got.read().decode(errors="surrogateescape")  # an archive is no text
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        _connections.kept.pop(parts.netloc)
        raise NoAnswer(f"{url.partition('?')[0]}: {type(error).__name__}") from error
    for cookie in got.headers.get_all("Set-Cookie") or []:
        name, _, value = cookie.partition(";")[0].partition("=")
        if cookies is not None:
            cookies[name] = value
    return Answer(url, got.status, text, got.headers.get("Location", ""))


def _connection(server: str) -> http.client.HTTPConnection:
    """This thread's connection to the server; a new one if the server may have closed it."""
    kept: dict[str, Any] = _connections.__dict__.setdefault("kept", {})
    connection: http.client.HTTPConnection | None
    connection, used_at = kept.get(server, (None, 0.0))
    if connection is None or time.monotonic() - used_at > IDLE:
        connection = http.client.HTTPConnection(server, timeout=TIMEOUT)
    kept[server] = connection, time.monotonic()
    return connection


@dataclass
class LeanBrowser:
    """One worker's browser at the marketplace `site`, working on the HITs of one group."""

    site: str
    group: str
    cookies: dict[str, str] = field(default_factory=dict)
    token: str = ""

    def sign_in(self, link: str) -> None:
        good(self._get(link))

    def browse(self) -> None:
        """Find the group in the list of HITs, and open its preview; raises NotOffered."""
        good(self._get(f"{self.site}/"))
        page = self._get(f"{self.site}/groups/{self.group}/preview")
        self.token = _found(CSRF, _offered(page))

    def accept(self) -> str:
        """Accept a HIT; return the address of its frame. Raises NotOffered."""
        address = f"{self.site}/groups/{self.group}/accept"
        answer = self._post(address, {"csrfmiddlewaretoken": self.token}, Referer=address)
        self.page = answer.url
        return unescape(_found(FRAME, _offered(answer)))

    def give_back(self) -> None:
        """Return the HIT that was accepted last."""
        fields = {"csrfmiddlewaretoken": self.token}
        good(self._post(f"{self.page}/return", fields, Referer=self.page))

    def open(self, frame: str) -> TaskPage:
        """Open the task page; raises NothingLeft."""
        page = self._task_page(frame)
        if NOTHING_LEFT in page.text:
            raise NothingLeft
        return TaskPage(
            action=urljoin(frame, _found(ACTION, page)),
            forward_to=unescape(_found(FORWARD_TO, page)),
            assignment=_found(ASSIGNMENT, page),
            hidden=_unescaped(HIDDEN, page),
            field=_found(FIELD, page),
            reason=_unescaped(REASON, page),
            image=unescape(_found(IMAGE, page)),
        )

    def _task_page(self, frame: str) -> Answer:
        for _ in range(RELOADS):
            answer = ask("GET", frame)
            if answer.status != 404:
                break
            # The marketplace shows a HIT a moment before the site has noted it.
            time.sleep(RELOADS_AFTER)
        return good(answer)

    def send(self, page: TaskPage, text: str) -> None:
        """Post the caption to the requester's site, then to the marketplace, as the page does."""
        self.submit(page, self.store(page, text))

    def store(self, page: TaskPage, text: str) -> dict[str, str]:
        """Post the caption, or without one why there is none, to the requester's site; return the
        fields for the marketplace."""
        fields = {**page.hidden, page.field: text, **({} if text else page.reason)}
        headers = {**FORM, "Accept": "application/json"}
        stored = good(ask("POST", page.action, body=urlencode(fields), headers=headers))
        kept: dict[str, str] = json.loads(stored.text)["fields"]
        return kept

    def submit(self, page: TaskPage, fields: Mapping[str, str]) -> None:
        """Submit the assignment to the marketplace."""
        sent = {"assignmentId": page.assignment, **fields}
        good(self._post(page.forward_to, sent))

    def _get(self, url: str) -> Answer:
        return self._followed(ask("GET", url, cookies=self.cookies))

    def _post(self, url: str, fields: Mapping[str, str], **headers: str) -> Answer:
        sent = ask(
            "POST",
            url,
            body=urlencode(fields),
            headers={**FORM, **headers},
            cookies=self.cookies,
        )
        return self._followed(sent)

    def _followed(self, answer: Answer) -> Answer:
        while answer.location and answer.status in {301, 302, 303}:
            answer = ask("GET", urljoin(answer.url, answer.location), cookies=self.cookies)
        return answer


def _offered(answer: Answer) -> Answer:
    if answer.status in {403, 404, 409}:
        raise NotOffered
    return good(answer)


def good(answer: Answer) -> Answer:
    """The answer; raises Unexpected if it is an error."""
    if answer.status >= 400:
        raise Unexpected(answer)
    return answer


def _unescaped(pattern: re.Pattern[str], page: Answer) -> dict[str, str]:
    """The values of a page's fields by their names."""
    return {name: unescape(value) for name, value in pattern.findall(page.text)}


def _found(pattern: re.Pattern[str], page: Answer) -> str:
    match = pattern.search(page.text)
    if match is None:
        raise Unexpected(page)
    return match[1]
