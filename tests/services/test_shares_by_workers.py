"""A large campaign is read and paid in shares by two Celery workers, one of which is killed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import psycopg2
import pytest

from hits.reconcile.run import SHARES, ShareWork
from shared.database.locks import lock_key
from tests.hits.marketplace_process import ROOT, running_marketplace
from tests.services.installation import (
    CELERY,
    Installation,
    ServiceAbsent,
    prepared_installation,
    start_beat,
)

pytestmark = pytest.mark.services

# More HITs than one sync reads and pays (AT_ONCE): the rest is left for the shares.
TASKS, CAPTIONS = 160, 2
HITS = TASKS * CAPTIONS

MAKE_CAMPAIGN = f"""
from benchmarks.campaigns import make_campaign
campaign = make_campaign(name="shares", images={TASKS}, wanted={CAPTIONS})
config = campaign.config_json
config["hit"]["assignments"] = 1
config["review"] |= {{"share": 0, "first": 0, "approve_after_hours": 24}}
campaign.save()
"""

# Each worker answers each task once, in a HIT of one slot.
SUBMIT = f"""
import sys
import django
django.setup()
from marketplace import clock
from marketplace.models import HitType, Worker
from marketplace.questions import answers
from marketplace.services.assignments import accept, submit
hit_type = HitType.objects.get()
for worker in Worker.objects.filter(public_id__in=sys.argv[1:]):
    for number in range(1, {TASKS} + 1):
        text = f"Person {{worker.pk}} sees {{number}} wooden boats beside an old stone bridge."
        assignment = accept(worker=worker, hit_type=hit_type, at=clock.now())
        answer = answers.build([(f"caption-{{number}}", [text])])
        submit(assignment=assignment, answer=answer, at=clock.now())
"""

STORED = "SELECT count(*) FROM annotate_response WHERE status = 'SUBMITTED'"
PAID = "SELECT count(*) FROM hits_assignment WHERE status = 'APPROVED'"
# The processes that hold any of these locks, and how many they hold.
HOLDERS = """
SELECT application_name, count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND (classid::bigint << 32 | objid::bigint) IN ({})
GROUP BY 1
"""
# Seconds in which a worker with nothing else to do takes a share.
PAUSE = 20
PAY_AT_ONCE = """
from annotate.models import Campaign
campaign = Campaign.objects.get()
campaign.config_json["review"]["approve_after_hours"] = 0
campaign.save()
"""


@pytest.fixture
def answered(tmp_path):
    """An installation without processes, whose campaign has all its answers at the marketplace."""
    with running_marketplace(tmp_path) as marketplace:
        try:
            with prepared_installation(tmp_path, marketplace, SYNC_SECONDS="3") as installation:
                installation.manage("shell", "--no-imports", "-c", MAKE_CAMPAIGN)
                installation.manage("sync", "shares")
                workers = marketplace.workers("s1", "s2")
                marketplace.run_script(SUBMIT, *(worker.worker_id for worker in workers))
                yield installation
        except ServiceAbsent as error:
            if os.environ.get("CI"):
                pytest.fail(str(error))
            pytest.skip(str(error))


def test_two_workers_read_and_pay_in_shares_and_one_of_them_is_killed(answered):
    for name in ("first", "second"):
        start_worker(answered, name)
    start_beat(answered)

    killed = kill_one_at_work(answered, ShareWork.READ, done=STORED)
    answered.wait_until(lambda: answered.number(STORED) == HITS, "everything is stored")
    start_worker(answered, f"after-{killed}")
    answered.manage("shell", "--no-imports", "-c", PAY_AT_ONCE)
    kill_one_at_work(answered, ShareWork.PAY, done=PAID)
    answered.wait_until(lambda: answered.number(PAID) == HITS, "everything is paid")

    assert answered.number("SELECT count(*) FROM hits_assignment") == HITS
    assert answered.number("SELECT count(DISTINCT submission_id) FROM annotate_response") == HITS
    counters = "SELECT DISTINCT answers_missing, places_left FROM annotate_task"
    assert answered.rows(counters) == [(0, 0)]
    assert rewards(answered) == (HITS, HITS)
    assert answered.rows("SELECT error FROM hits_sync WHERE error <> ''") == []
    assert answered.number("SELECT count(*) FROM background_failure") == 0


def start_worker(installation: Installation, name: str) -> None:
    """Start a Celery worker that is one process, and takes one task after the other."""
    host = f"{name}@localhost"
    installation.start(name, *CELERY, "worker", "--pool", "solo", "--hostname", host)
    ping = [sys.executable, *CELERY, "inspect", "ping", "--destination", host, "--timeout", "5"]

    def answers() -> bool:
        done = subprocess.run(ping, env=installation.environment, cwd=ROOT, capture_output=True)
        return done.returncode == 0

    installation.wait_until(answers, f"the worker {name} starts")


def kill_one_at_work(installation: Installation, work: ShareWork, *, done: str) -> str:
    """Kill one of two workers while both have shares and not all is done; return its name."""
    with closing(psycopg2.connect(installation.environment["DATABASE_URL"])) as connection:
        installation.wait_until(
            lambda: stopped_at_work(installation, connection, work), f"two {work}", every=0.01
        )
        name = min(holders(installation, work))
        killed = installation.processes[name]
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert installation.number(done) < HITS
    return name


def stopped_at_work(installation: Installation, connection: Any, work: ShareWork) -> bool:
    """Whether both workers have shares, and neither can read or pay more until the rollback.

    A worker may wait for the same table with other work, such as a sync. Then it is let go on."""
    connection.rollback()
    if 1 not in holders(installation, work).values():
        return False
    connection.cursor().execute("LOCK TABLE hits_assignment IN SHARE MODE")
    end = time.monotonic() + PAUSE
    while len(holders(installation, work)) < 2:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def holders(installation: Installation, work: ShareWork) -> dict[str, int]:
    """The numbers of shares of this work that processes have, by their names."""
    locks = ", ".join(str(lock_key(f"sync-1-{work}-{share}")) for share in SHARES)
    return dict(installation.rows(HOLDERS.format(locks)))


def rewards(installation: Installation) -> tuple[int, int]:
    """The number of rewards that the marketplace has paid, and of the assignments paid."""
    ledger = installation.folder / "marketplace.sqlite3"
    with closing(sqlite3.connect(ledger)) as connection:
        query = "SELECT count(*), count(DISTINCT assignment_id) FROM marketplace_transfer"
        found: tuple[int, int] = connection.execute(f"{query} WHERE kind = 'reward'").fetchone()
        return found
