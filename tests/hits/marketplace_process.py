"""The marketplace as a process with its own database, and a worker who uses its pages over HTTP."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from lxml import html

from tests.servers import PATIENCE, free_port, stop, wait_until_ready

ROOT = Path(__file__).resolve().parents[2]
CSRF_COOKIE = "marketplace_csrf"


# Starting Python and Django takes longer than most tests, so accounts are made for many tests.
REQUESTERS_AT_ONCE, WORKERS_AT_ONCE = 50, 100
MAKE_REQUESTERS = """
import json, sys
import django
django.setup()
from marketplace import clock
from marketplace.services.operators import get_or_create_requester
prefix, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    made = get_or_create_requester(name=f"{prefix}-{number}", balance=None, at=clock.now())
    print(json.dumps({"access_key": made.access_key, "secret_key": made.secret_key}))
"""


@dataclass
class MarketplaceProcess:
    """A running marketplace, and its management commands."""

    url: str
    environment: dict[str, str]
    process: "subprocess.Popen[bytes] | None" = None
    spare_requesters: list[dict[str, str]] = field(default_factory=list)
    spare_workers: list["WorkerSession"] = field(default_factory=list)
    batches: int = 0

    def command(self, *arguments: str) -> list[Any]:
        """Run `manage.py ARGUMENTS --json`; return the objects that it prints."""
        return self._run("manage.py", *arguments, "--json")

    def _run(self, *arguments: str, **environment: str) -> list[Any]:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**self.environment, **environment},
            check=True,
            capture_output=True,
            text=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def run_script(self, script: str, *arguments: str) -> list[Any]:
        """Run Python code with the marketplace's settings; return the objects that it prints."""
        settings = {"DJANGO_SETTINGS_MODULE": "marketplace.settings"}
        return self._run("-c", script, *arguments, **settings)

    def requester(self, name: str, balance: str = "10000.00") -> dict[str, str]:
        keys: dict[str, str] = self.command("marketplace_requester", name, "--balance", balance)[0]
        return keys

    def fresh_requester(self) -> dict[str, str]:
        """Keys of a new requester."""
        if not self.spare_requesters:
            self.batches += 1
            prefix = f"requester-{self.batches}"
            self.spare_requesters = self.run_script(
                MAKE_REQUESTERS, prefix, str(REQUESTERS_AT_ONCE)
            )
        return self.spare_requesters.pop()

    def fresh_workers(self, count: int) -> list["WorkerSession"]:
        """New workers, signed in."""
        if len(self.spare_workers) < count:
            self.batches += 1
            names = [f"worker-{self.batches}-{number}" for number in range(WORKERS_AT_ONCE + count)]
            self.spare_workers += self.workers(*names)
        return [self.spare_workers.pop().sign_in() for _ in range(count)]

    def workers(self, *names: str) -> list["WorkerSession"]:
        made = self.command(
            "marketplace_worker", *names, "--country", "US", "--approved", "6000", "--rate", "99"
        )
        return [WorkerSession(self.url, row["worker_id"], row["sign_in_url"]) for row in made]


@contextmanager
def running_marketplace(
    folder: Path, *, options: Sequence[str] = (), **settings: str
) -> Iterator[MarketplaceProcess]:
    """Start a marketplace on a free port with these command options, and stop it at the end."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{folder / 'marketplace.sqlite3'}",
        "MARKETPLACE_URL": url,
        **{name: value.replace("{port}", str(port)) for name, value in settings.items()},
    }
    process = subprocess.Popen(
        [sys.executable, "manage.py", "marketplace", "--port", str(port), *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_ready(f"{url}/healthz", process)
        yield MarketplaceProcess(url, environment, process)
    finally:
        stop(process)


@dataclass
class Frame:
    """An accepted assignment and the URL of its frame."""

    assignment_id: str
    page: str
    src: str


@dataclass
class WorkerSession:
    """One worker's browser at the marketplace."""

    url: str
    worker_id: str
    sign_in_url: str
    http: requests.Session = field(default_factory=requests.Session)

    def sign_in(self) -> "WorkerSession":
        # The list of HITs, to which the link leads, is not needed.
        answer = self.http.get(self.sign_in_url, timeout=PATIENCE, allow_redirects=False)
        assert answer.ok, answer.text
        return self

    def accept(self, hit_type_id: str) -> Frame:
        """Accept a HIT of the group; raises NotOffered."""
        answer = self.post(f"/groups/{hit_type_id}/preview", f"/groups/{hit_type_id}/accept")
        if not answer.ok:
            raise NotOffered(f"{answer.status_code}: {answer.url}")
        assignment_id = re.search(r"/assignments/([A-Z0-9]+)", answer.url)
        assert assignment_id is not None, answer.url
        return Frame(assignment_id[1], answer.url, source_of_frame(answer))

    def give_back(self, frame: Frame) -> None:
        path = f"/assignments/{frame.assignment_id}"
        answer = self.post(path, f"{path}/return")
        assert answer.ok, answer.text

    def submit(self, assignment_id: str, **fields: str) -> requests.Response:
        """Post to the marketplace directly, as the frame's form does."""
        return self.http.post(
            f"{self.url}/mturk/externalSubmit",
            data={"assignmentId": assignment_id, **fields},
            timeout=PATIENCE,
        )

    def post(self, form_page: str, action: str, **fields: str) -> requests.Response:
        """Post to a page of the marketplace as the form on another page does."""
        if CSRF_COOKIE not in self.http.cookies:
            self.http.get(self.url + form_page, timeout=PATIENCE)
        data = {**fields, "csrfmiddlewaretoken": self.http.cookies.get(CSRF_COOKIE, "")}
        headers = {"Referer": self.url + form_page}
        return self.http.post(self.url + action, data=data, headers=headers, timeout=PATIENCE)


class Person(WorkerSession):
    """The browser of one of a requester's own people, who joined by the link of a group."""

    @classmethod
    def join(cls, link: str, name: str) -> "Person":
        url = link.partition("/welcome/")[0]
        person = cls(url, worker_id="", sign_in_url="")
        page = person.http.get(link, timeout=PATIENCE).text
        [version] = found_in(page, "//input[@name='version']/@value")
        fields = {"agree": "yes", "version": version, "name": name, "password": ""}
        answer = person.post(link.removeprefix(url), link.removeprefix(url), **fields)
        assert answer.ok, answer.text
        return person

    def accept(self, hit_type_id: str) -> Frame:  # noqa: ARG002
        """Open the next task of the only group; raises NotOffered."""
        home = self.http.get(f"{self.url}/home", timeout=PATIENCE).text
        actions = found_in(home, "//form[starts-with(@action, '/home/next/')]/@action")
        if not actions:
            raise NotOffered(home)
        answer = self.post("/home", actions[0])
        return Frame(answer.url.rpartition("/")[2], answer.url, source_of_frame(answer))

    def withdraw(self) -> None:
        """Withdraw all work in the only group."""
        page = self.http.get(f"{self.url}/home/account", timeout=PATIENCE).text
        link = re.search(r"/home/groups/[0-9]+/withdrawal", page)
        assert link is not None, page
        answer = self.post(link[0], link[0], sure="yes")
        assert answer.ok, answer.text


def source_of_frame(answer: requests.Response) -> str:
    """The address of the page in the first frame of the answer."""
    sources = found_in(answer.text, "//iframe/@src")
    assert sources, answer.text
    return sources[0]


def found_in(page: str, path: str) -> list[str]:
    """The attributes of a page that an XPath finds."""
    found: Any = html.fromstring(page).xpath(path)
    return [str(each) for each in found]


class NotOffered(Exception):
    """The worker cannot accept a HIT of the group."""
