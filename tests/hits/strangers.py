"""Attackers who send forged requests to a campaign's task page and its marketplace.

They know everything except the workers' sessions: HIT ids, worker ids, assignment ids of others,
and the tokens of forms that workers opened.
"""

import random
import string
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import requests
from bs4 import BeautifulSoup
from django.core import signing

from hits.pages.task_page.form import SALT
from simulation.workers.browser import Accepted, TaskForm, WorkerBrowser, field_of
from tests.hits.marketplace_process import WorkerSession
from tests.servers import PATIENCE

FORGED = "A forged sentence about a grey cat that sleeps on a red roof."
AT_ONCE = 8  # requests of a flood
STRANGERS = 4  # who send at the same time
ODD = ["", "\x00", "A\x00B", "Ａ１", "٣", "A" * 10_000, "A'--", "<script>", "../../etc", "\u202e"]
ADDRESSES = [
    *("http://[", "//", "javascript:alert(1)", "http://evil.example", "\x00", "http://a:99999"),
    *("https://workersandbox.mturk.com", "http://user@127.0.0.1", "data:text/html,x"),
]
HEADERS = {"Accept": "application/json"}


@dataclass(frozen=True)
class Opened:
    """A page that a worker opened: its URL parameters and its form."""

    query: Mapping[str, str]
    form: TaskForm

    @property
    def token(self) -> str:
        return self.form.hidden["token"]


class Overheard:
    """All pages that workers have opened so far."""

    def __init__(self) -> None:
        self.pages: list[Opened] = []
        self._first = threading.Event()

    def add(self, opened: Opened) -> None:
        self.pages.append(opened)
        self._first.set()

    def wait(self) -> None:
        """Return once a page was opened."""
        assert self._first.wait(PATIENCE), "no worker opened a page"


class OverheardBrowser(WorkerBrowser):
    """A worker's browser whose pages the attackers know."""

    overheard: Overheard
    submitted: set[str]  # texts of the answers that the site and the marketplace took

    def open_task(self, accepted: Accepted) -> TaskForm:
        form = super().open_task(accepted)
        query = {k: values[0] for k, values in parse_qs(urlsplit(accepted.frame).query).items()}
        self.overheard.add(Opened(query, form))
        return form

    def send(self, task: TaskForm, answers: Mapping[str, str]) -> TaskForm | None:
        corrected = super().send(task, answers)
        if corrected is None:
            self.submitted.update(answers.values())
        return corrected

    def _load_images(self, page: str, sources: Iterable[str]) -> None:
        """Do nothing: the images of the campaign do not exist."""


class _OldSigner(signing.TimestampSigner):
    """Signs tokens dated a year ago."""

    def timestamp(self) -> str:
        return signing.b62_encode(int(time.time()) - 365 * 24 * 3600)


@dataclass
class Stranger:
    """One attacker's requests; each method is one kind of attack and yields all responses."""

    page: str  # the address of the task page
    outsider: WorkerSession  # a worker of the marketplace who accepted nothing
    overheard: Overheard
    rng: random.Random
    http: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.http.trust_env = False

    # At the task page, with GET

    def makes_up_worker_and_assignment(self) -> Iterator[requests.Response]:
        yield self._get(self._made_up())

    def comes_as_a_worker(self) -> Iterator[requests.Response]:
        yield self._get(self._made_up(workerId=self._victim().query["workerId"]))

    def comes_with_an_assignment_of_others(self) -> Iterator[requests.Response]:
        yield self._get(self._made_up(assignmentId=self._victim().query["assignmentId"]))

    def mixes_worker_and_assignment(self) -> Iterator[requests.Response]:
        yield self._get({**self._victim().query, "workerId": self._victim().query["workerId"]})

    def opens_a_workers_page(self) -> Iterator[requests.Response]:
        yield self._get(self._victim().query)

    def makes_up_a_hit(self) -> Iterator[requests.Response]:
        yield self._get(self._made_up(hitId=self._id()))

    def names_another_address_to_submit_to(self) -> Iterator[requests.Response]:
        yield self._get(self._made_up(turkSubmitTo=self.rng.choice(ADDRESSES)))

    def sends_odd_parameters(self) -> Iterator[requests.Response]:
        name = self.rng.choice(["assignmentId", "hitId", "workerId", "turkSubmitTo"])
        yield self._get({**self._victim().query, name: self.rng.choice(ODD)})

    def sends_bytes_that_are_no_text(self) -> Iterator[requests.Response]:
        start = f"{self.page}?hitId={self._victim().query['hitId']}&assignmentId=A1"
        yield self._send("GET", f"{start}&workerId=A%ED%A0%80%FF%00")

    def looks_at_the_preview(self) -> Iterator[requests.Response]:
        yield self._get({**self._victim().query, "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})

    def floods_a_hit(self) -> Iterator[requests.Response]:
        hit = self._victim().query["hitId"]
        queries = [self._made_up(hitId=hit) for _ in range(AT_ONCE)]
        yield from _together(lambda query: _fresh_get(self.page, query), queries)

    def uses_other_methods(self) -> Iterator[requests.Response]:
        method = self.rng.choice(["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE"])
        yield self._send(method, f"{self.page}?{urlencode(self._victim().query)}")

    # At the task page, with POST

    def answers_as_nobody(self) -> Iterator[requests.Response]:
        yield from self._open_and_answer(self._made_up())

    def answers_as_a_worker(self) -> Iterator[requests.Response]:
        yield from self._open_and_answer(self._made_up(workerId=self._victim().query["workerId"]))

    def answers_in_an_assignment_of_others(self) -> Iterator[requests.Response]:
        query = self._made_up(assignmentId=self._victim().query["assignmentId"])
        yield from self._open_and_answer(query)

    def answers_with_a_stolen_token(self) -> Iterator[requests.Response]:
        yield self._post(self._filled(self._victim()))

    def replays_a_form(self) -> Iterator[requests.Response]:
        fields = self._filled(self._victim())
        for _ in range(3):
            yield self._post(fields, headers=self.rng.choice([{}, HEADERS]))

    def answers_at_the_same_time(self) -> Iterator[requests.Response]:
        fields = self._filled(self._victim())
        yield from _together(lambda data: _fresh_post(self.page, data), [fields] * AT_ONCE)

    def answers_other_tasks(self) -> Iterator[requests.Response]:
        ends = [*range(1, 6), 10**12, -1, "٣", "x", "\x00"]
        wrong = {f"caption-{end}": FORGED for end in ends}
        yield self._post({"token": self._victim().token, **wrong})

    def sends_an_expired_token(self) -> Iterator[requests.Response]:
        data = signing.loads(self._victim().token, salt=SALT)
        old = _OldSigner(salt=SALT).sign_object(data, compress=True)
        yield self._post({**self._filled(self._victim()), "token": old})

    def sends_a_forged_token(self) -> Iterator[requests.Response]:
        token = self._victim().token
        forged = [
            token[:-1] + ("A" if token[-1] != "A" else "B"),
            token.split(":", 1)[1],
            signing.dumps(["x"], salt="another salt"),
            signing.dumps([{}, 0, []], key="another key", salt=SALT),
            *ODD,
        ]
        yield self._post({**self._filled(self._victim()), "token": self.rng.choice(forged)})

    def sends_odd_answers(self) -> Iterator[requests.Response]:
        victim = self._victim()
        text = self.rng.choice([*ODD, "word " * 5_000, "a\x00 forged text of seven words here"])
        yield self._post(
            {**self._filled(victim, text), "behaviour-1": '{"characters": {"typed": 1e999}}'}
        )

    def sends_too_much(self) -> Iterator[requests.Response]:
        fields = self._filled(self._victim())
        many = {f"field-{number}": "x" for number in range(1_500)}
        yield self._post({**fields, **self.rng.choice([many, {"large": "x" * 1_100_000}])})

    # At the marketplace

    def submits_a_made_up_assignment(self) -> Iterator[requests.Response]:
        yield self._submit(self.http, self.rng.choice([self._id(), "", "A\x00", "A" * 10_000]))

    def submits_for_another_worker(self) -> Iterator[requests.Response]:
        yield self._submit(self.outsider.http, self._victim().query["assignmentId"])

    def returns_the_hit_of_another_worker(self) -> Iterator[requests.Response]:
        path = f"/assignments/{self._victim().query['assignmentId']}/return"
        yield self.outsider.post(form_page="/profile", action=path)

    def _victim(self) -> Opened:
        """A page of a worker; later pages are more likely, because their workers are still
        writing."""
        pages = self.overheard.pages
        return self.rng.choice(pages[-10:] if self.rng.random() < 0.7 else pages)

    def _made_up(self, **real: str) -> dict[str, str]:
        worker = "A" + self._id()
        made_up = {"assignmentId": self._id(), "workerId": worker}
        return {**self._victim().query, **made_up, **real}

    def _id(self) -> str:
        return "".join(self.rng.choices(string.ascii_uppercase + string.digits, k=30))

    def _filled(self, opened: Opened, text: str = FORGED) -> dict[str, str]:
        names = [str(field_of(item, "textarea")["name"]) for item in opened.form.items]
        return {**opened.form.hidden, **dict.fromkeys(names, text)}

    def _open_and_answer(self, query: Mapping[str, str]) -> Iterator[requests.Response]:
        page = self._get(query)
        yield page
        form = BeautifulSoup(page.content, "lxml").select_one("form[data-task]")
        if form is not None:
            fields = {
                str(field["name"]): str(field.get("value", "")) for field in form.select("[name]")
            }
            filled = {n: FORGED if n.startswith("caption-") else v for n, v in fields.items()}
            yield self._post(filled)

    def _get(self, query: Mapping[str, str]) -> requests.Response:
        return self._send("GET", f"{self.page}?{urlencode(query, quote_via=quote)}")

    def _post(self, fields: Mapping[str, str], **options: Any) -> requests.Response:
        return self._send("POST", self.page, data=dict(fields), **options)

    def _send(self, method: str, address: str, **options: Any) -> requests.Response:
        return self.http.request(method, address, timeout=PATIENCE, **options)

    def _submit(self, http: requests.Session, assignment: str) -> requests.Response:
        fields = {"assignmentId": assignment, "caption-1": FORGED}
        address = f"{self.outsider.url}/mturk/externalSubmit"
        return http.post(address, data=fields, timeout=PATIENCE)


SORTS = [
    value for name, value in vars(Stranger).items() if callable(value) and not name.startswith("_")
]


def _fresh_get(page: str, query: Mapping[str, str]) -> requests.Response:
    return requests.get(page, params=dict(query), timeout=PATIENCE)


def _fresh_post(page: str, fields: Mapping[str, str]) -> requests.Response:
    return requests.post(page, data=dict(fields), timeout=PATIENCE)


def _together(send: Callable[[Any], requests.Response], what: list[Any]) -> list[requests.Response]:
    with ThreadPoolExecutor(len(what)) as pool:
        return list(pool.map(send, what))


class Attack:
    """Sends forged requests of all kinds in turn and counts the responses."""

    def __init__(self, strangers: list[Stranger], requests: int) -> None:
        self.answers: dict[str, Counter[int]] = {sort.__name__: Counter() for sort in SORTS}
        self.sent = 0
        self._wanted = requests
        self._allowed = 0.0
        self._strangers = strangers
        self._changed = threading.Condition()

    def allow(self, share: float) -> None:
        """Allow this share of all requests, so that they last as long as the work does."""
        with self._changed:
            self._allowed = max(self._allowed, share)
            self._changed.notify_all()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Attack while the block runs; the remaining requests are sent at its end."""
        with ThreadPoolExecutor(len(self._strangers), thread_name_prefix="stranger") as pool:
            attacks = [pool.submit(self._attack, stranger) for stranger in self._strangers]
            try:
                yield
            finally:
                self.allow(1)
            for attack in attacks:
                attack.result()

    def _attack(self, stranger: Stranger) -> None:
        stranger.overheard.wait()
        while True:
            for sort in stranger.rng.sample(SORTS, len(SORTS)):
                if not self._may_go_on():
                    return
                for answer in sort(stranger):
                    self._note(sort.__name__, answer.status_code)

    def _may_go_on(self) -> bool:
        with self._changed:
            self._changed.wait_for(
                lambda: self.sent < self._wanted * self._allowed or self._is_over
            )
            return not self._is_over

    @property
    def _is_over(self) -> bool:
        return self.sent >= self._wanted

    def _note(self, sort: str, status: int) -> None:
        with self._changed:
            self.sent += 1
            self.answers[sort][status] += 1
            if self._is_over:
                self._changed.notify_all()
