"""PostgreSQL's connections are cut repeatedly while workers caption.

No process ends, and a cut costs at most the request that was using the connection. Thirty cuts in
CI; `CUTS=300` tries longer.
"""

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Event

import pytest
import requests

from tests.hits.marketplace_process import WorkerSession, running_marketplace
from tests.servers import PATIENCE
from tests.services.captioning import caption_one, prepare_campaign
from tests.services.installation import Installation, ServiceAbsent, running_installation

pytestmark = pytest.mark.services

CUTS = int(os.environ.get("CUTS", "30"))
# This many good answers come between two cuts, also on a slow machine.
ANSWERS_BETWEEN_CUTS = 6
IMAGES, CAPTIONS, READERS = 4, 3, 2
# First who is connected to this database, and no other, then an end to each: in one statement
# PostgreSQL could end a connection before it looks which database it has.
CONNECTED = """
    SELECT pid, application_name FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


class Browser:
    """Sends requests to the requester site, and repeats them while they fail."""

    def __init__(self) -> None:
        self.answered = self.failed = 0
        self._changed = Condition()

    def get(self, url: str, **options: object) -> requests.Response:
        return self._send("GET", url, **options)

    def post(self, url: str, **options: object) -> requests.Response:
        return self._send("POST", url, **options)

    def wait_for(self, answered: int) -> None:
        """Return once there are this many successful responses."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.answered >= answered, PATIENCE)

    def _send(self, method: str, url: str, **options: object) -> requests.Response:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = requests.request(method, url, **options)
            is_good = answer.status_code < 500
            with self._changed:
                self.answered += is_good
                self.failed += not is_good
                self._changed.notify_all()
            if is_good:
                return answer
        raise AssertionError(f"{url} answers {answer.status_code}")


@pytest.fixture
def installation(tmp_path):
    with running_marketplace(tmp_path) as marketplace:
        try:
            with running_installation(tmp_path, marketplace, watches=True) as running:
                yield running
        except ServiceAbsent as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))


def cut_connections(installation: Installation, browser: Browser) -> Counter[str]:
    """Cut every connection, CUTS times; return the number of cuts by process."""
    cut: Counter[str] = Counter()
    for _ in range(CUTS):
        for pid, name in installation.rows(CONNECTED):
            installation.rows(f"SELECT pg_terminate_backend({int(pid)})")
            cut[name] += 1
        browser.wait_for(browser.answered + ANSWERS_BETWEEN_CUTS)
    return cut


def caption_all(browser: Browser, worker: WorkerSession, hit_type_id: str, number: int) -> None:
    for turn in range(IMAGES):
        text = f"Drawn shapes stand side by side on the lawn, take {turn} of {number}."
        caption_one(worker, hit_type_id, text, get=browser.get, post=browser.post)


def read_until(browser: Browser, url: str, done: Event) -> None:
    while not done.is_set():
        browser.get(url, timeout=PATIENCE)


def test_cut_connections_cost_a_request_each_and_end_no_process(installation):
    prepare_campaign(installation, images=IMAGES, captions=CAPTIONS)
    workers = [w.sign_in() for w in installation.marketplace.workers("c1", "c2", "c3")]
    installation.manage("publish", "services")
    wanted = IMAGES * CAPTIONS
    open_slots = "SELECT coalesce(sum(available), 0) FROM hits_hit WHERE status = 'OPEN'"
    installation.wait_until(lambda: installation.number(open_slots) == wanted, "slots open")
    hit_type_id = installation.rows("SELECT hit_type_id FROM hits_hittype")[0][0]
    preview = f"{installation.environment['SITE_URL']}/task/services/"
    browser, done = Browser(), Event()

    with ThreadPoolExecutor(len(workers) + READERS) as pool:
        work = [
            pool.submit(caption_all, browser, worker, hit_type_id, number)
            for number, worker in enumerate(workers)
        ]
        readers = [pool.submit(read_until, browser, preview, done) for _ in range(READERS)]
        try:
            cut = cut_connections(installation, browser)
        finally:
            done.set()
        for each in (*work, *readers):
            each.result(PATIENCE)
    approved = "SELECT count(*) FROM hits_assignment WHERE status = 'APPROVED'"
    installation.wait_until(lambda: installation.number(approved) == wanted, "all is paid")

    ended = [name for name, process in installation.processes.items() if process.poll() is not None]
    assert ended == [], installation.logs()
    assert cut["site"] >= CUTS / 2, cut
    assert browser.failed <= cut["site"], (browser.answered, browser.failed, cut)
    submitted = "SELECT count(*) FROM annotate_response WHERE status = 'SUBMITTED'"
    assert installation.number(submitted) == wanted
    print(f"{sum(cut.values())} connections cut ({dict(cut)}), {browser.failed} requests failed")
