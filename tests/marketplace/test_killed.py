"""The server is killed under load and restarted: everything it confirmed is still there."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from botocore.exceptions import BotoCoreError, ClientError

from tests.hits.marketplace_process import ROOT, MarketplaceProcess, NotOffered, WorkerSession
from tests.marketplace.driver import Marketplace, create_hit, create_hit_type
from tests.servers import PATIENCE, free_port, wait_until, wait_until_ready

WORKERS, HITS, KILLS = 6, 30, 3
# The server is killed so many submissions after its start, and so many seconds at the most.
AT_WORK, UNTIL_KILLED = 5, 0.5
BALANCE = "1000.00"


@dataclass
class Records:
    """The changes that the marketplace confirmed before it was killed."""

    accepted: set[str] = field(default_factory=set)
    submitted: set[str] = field(default_factory=set)
    approved: set[str] = field(default_factory=set)


class Server:
    """A marketplace process on a fixed port."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.database = folder / "marketplace.sqlite3"
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"},
            "MARKETPLACE_DATABASE_URL": f"sqlite:///{self.database}",
            "MARKETPLACE_URL": self.url,
        }
        self.client = MarketplaceProcess(self.url, self.environment)

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "marketplace", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
        )
        wait_until_ready(f"{self.url}/healthz", self.process)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


def work(session: WorkerSession, hit_type_id: str, records: Records, over: threading.Event) -> None:
    """Accept and submit until stopped; record responses, and go on after failures."""
    while not over.is_set():
        try:
            frame = session.accept(hit_type_id)
            records.accepted.add(frame.assignment_id)
            if session.submit(frame.assignment_id, caption="A dog.").ok:
                records.submitted.add(frame.assignment_id)
        except (requests.RequestException, NotOffered, AssertionError):
            time.sleep(0.05)


def approve(client, hit_ids: list[str], records: Records, over: threading.Event) -> None:
    """Approve all submitted work, repeatedly."""
    while not over.is_set():
        for hit_id in hit_ids:
            try:
                listed = client.list_assignments_for_hit(
                    HITId=hit_id, AssignmentStatuses=["Submitted"]
                )
                for assignment in listed["Assignments"]:
                    client.approve_assignment(AssignmentId=assignment["AssignmentId"])
                    records.approved.add(assignment["AssignmentId"])
            except (BotoCoreError, ClientError):
                time.sleep(0.05)


def make_hits(client) -> tuple[str, list[str]]:
    hit_type_id = create_hit_type(client)
    made = [create_hit(client, hit_type_id, MaxAssignments=9) for _ in range(HITS)]
    return hit_type_id, [each["HITId"] for each in made]


def kill_under_load(server: Server, client) -> Records:
    """Run all users at the same time while the server is killed and restarted several times."""
    hit_type_id, hit_ids = make_hits(client)
    sessions = server.client.fresh_workers(WORKERS)
    records, over = Records(), threading.Event()
    moments = random.Random(7)
    with ThreadPoolExecutor(WORKERS + 1) as pool:
        for session in sessions:
            pool.submit(work, session, hit_type_id, records, over)
        pool.submit(approve, client, hit_ids, records, over)
        try:
            wait_until(lambda: records.accepted and records.submitted and records.approved)
            for _ in range(KILLS):
                done = len(records.submitted) + AT_WORK
                wait_until(lambda done=done: len(records.submitted) >= done)
                time.sleep(moments.uniform(0, UNTIL_KILLED))
                server.kill()
                server.start()
        finally:
            over.set()
    return records


@pytest.mark.slow
def test_nothing_that_was_answered_is_lost_and_the_ledger_balances(tmp_path):
    server = Server(tmp_path)
    server.start()
    keys = server.client.requester("lab", BALANCE)
    client = Marketplace(server.url).client(keys["access_key"], keys["secret_key"])
    try:
        records = kill_under_load(server, client)
    finally:
        server.kill()

    with sqlite3.connect(server.database) as database:
        statuses = dict(database.execute("SELECT public_id, status FROM marketplace_assignment"))
        check_ledger(database)
    database.close()
    assert records.accepted <= statuses.keys()
    lost = [each for each in records.submitted if statuses[each] not in {"Submitted", "Approved"}]
    assert lost == []
    assert {statuses[each] for each in records.approved} == {"Approved"}


def check_ledger(database: sqlite3.Connection) -> None:
    """Check that balances equal the ledger's sums and that approved assignments were paid once."""
    for column, account in (("available_balance", "available"), ("held_balance", "held")):
        (stored,) = database.execute(f"SELECT {column} FROM marketplace_requester").fetchone()
        (summed,) = database.execute(
            "SELECT SUM(CASE WHEN target = ? THEN amount ELSE -amount END) "
            "FROM marketplace_transfer WHERE ? IN (source, target)",
            (account, account),
        ).fetchone()
        assert stored == (summed or 0)
    approved, paid = (
        sorted(database.execute(query))
        for query in (
            "SELECT id FROM marketplace_assignment WHERE status = 'Approved'",
            "SELECT assignment_id FROM marketplace_transfer WHERE kind = 'reward'",
        )
    )
    assert approved == paid
    (held,) = database.execute(
        "SELECT SUM((available + pending + unreviewed) * (reward + fee)) FROM marketplace_hit "
        "JOIN marketplace_hittype ON marketplace_hittype.id = hit_type_id"
    ).fetchone()
    assert (held,) == database.execute("SELECT held_balance FROM marketplace_requester").fetchone()
