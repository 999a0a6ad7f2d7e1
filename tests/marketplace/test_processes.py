"""Two processes serve one database, and one of them is killed."""

import signal
from datetime import timedelta

import pytest
import requests
from django.db import connection, transaction

from marketplace import clock
from marketplace.models import (
    Account,
    Assignment,
    AssignmentStatus,
    Event,
    Hit,
    NotificationSetting,
    Requester,
    Transfer,
    TransferKind,
)
from marketplace.services import assignments
from marketplace.services.sweep import sweep
from tests.hits.marketplace_process import running_marketplace
from tests.marketplace.factories import NOON, make_hit, make_hit_type, make_requester, make_worker
from tests.marketplace.ledger import ledger_balance
from tests.servers import PATIENCE, wait_until

OVERDUE = 30

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite serves one process"),
]


@pytest.fixture
def processes(tmp_path):
    """Two marketplaces on this test's database."""
    parts = connection.settings_dict
    settings = {
        "MARKETPLACE_DATABASE_URL": f"postgres://{parts['USER']}:{parts['PASSWORD']}@"
        f"{parts['HOST']}:{parts['PORT']}/{parts['NAME']}",
        "MARKETPLACE_SWEEP_SECONDS": "0.2",
    }
    with (
        running_marketplace(tmp_path, **settings) as first,
        running_marketplace(tmp_path, **settings) as second,
    ):
        yield first, second


@transaction.atomic
def make_overdue() -> Hit:
    """A HIT with assignments to abandon and to approve, all long overdue.

    In one transaction, so that no process sweeps a part of them.
    """
    hit_type = make_hit_type(make_requester("1000.00"), auto_approval_delay=timedelta(hours=1))
    NotificationSetting.objects.get_or_create(
        hit_type=hit_type,
        transport="SQS",
        version="2014-08-15",
        event_types=["AssignmentAbandoned", "AssignmentApproved", "HITExpired"],
        is_active=True,
    )
    hit = make_hit(hit_type, max_assignments=2 * OVERDUE)
    for number in range(2 * OVERDUE):
        found = assignments.accept(worker=make_worker(), hit_type=hit_type, at=NOON)
        if number % 2:
            assignments.submit(assignment=found, answer="<a/>", at=NOON)
    return hit


def is_swept(hit: Hit) -> bool:
    hit.refresh_from_db()
    done = hit.assignments.filter(
        status__in=[AssignmentStatus.ABANDONED, AssignmentStatus.APPROVED]
    )
    return hit.is_expired and done.count() == 2 * OVERDUE


def test_the_other_process_goes_on_and_nothing_is_done_twice(processes):
    killed, other = processes
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait(PATIENCE)

    hit = make_overdue()
    wait_until(lambda: is_swept(hit))

    assert requests.get(f"{other.url}/healthz", timeout=PATIENCE).ok
    check_done_once(hit)


def test_sweeps_at_the_same_time_do_nothing_twice(processes):
    """Calls of the API sweep, too, whatever the processes' threads do."""
    hit = make_overdue()

    def sweep_here_too() -> bool:
        sweep(at=clock.now())
        return is_swept(hit)

    wait_until(sweep_here_too)

    check_done_once(hit)


def check_done_once(hit: Hit) -> None:
    hit.refresh_from_db()
    assert (hit.available, hit.pending, hit.unreviewed, hit.completed) == (OVERDUE, 0, 0, OVERDUE)
    assert Transfer.objects.filter(kind=TransferKind.REWARD).count() == OVERDUE
    # A process may still dispose of the HIT, which returns money. It waits for this lock.
    with transaction.atomic():
        requester = Requester.objects.select_for_update().get(pk=hit.requester_id)
        assert requester.available_balance == ledger_balance(requester, Account.AVAILABLE)
        assert requester.held_balance == ledger_balance(requester, Account.HELD)
    kinds = [event.body["EventType"] for event in Event.objects.all()]
    assert kinds.count("AssignmentAbandoned") == OVERDUE
    assert kinds.count("AssignmentApproved") == OVERDUE
    assert kinds.count("HITExpired") == 1
    assert Assignment.objects.filter(status=AssignmentStatus.ACCEPTED).count() == 0
