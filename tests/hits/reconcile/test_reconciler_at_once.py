"""A reconciler concurrent with another one, or with a reviewer who excludes a worker."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotate.models import Response, Task, Worker
from hits.models import Hit, HitStatus
from hits.reconcile.reading import adopt
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from tests.factories import NOON, HitFactory, make_campaign
from tests.hits.framed_work import work
from tests.races import somebody_waits_for_a_lock
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_hit_that_another_reconciler_made_meanwhile_is_known_as_it_is():
    HitFactory(status=HitStatus.PLANNED, hit_id=None, available=0)
    seen_before = Hit.objects.get()
    adopt(Hit.objects.get(), "HIT1", NOON)

    adopt(seen_before, "HIT1", NOON)

    assert (seen_before.status, seen_before.hit_id) == (HitStatus.OPEN, "HIT1")
    # What is noted of it next is written over its row, and must fit.
    seen_before.save()
    assert Hit.objects.get().status == HitStatus.OPEN


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_ingest_waits_for_the_worker_before_it_holds_a_task(client, marketplace, requester):
    """An exclusion locks worker, then tasks; the opposite order in ingest would cause a
    deadlock."""
    campaign = make_campaign(tasks=2)
    reconcile(campaign)
    worker = marketplace.fresh_workers(1)[0]
    work(client, worker, campaign)
    reconcile(campaign)
    work(client, worker, campaign)

    def ingest() -> None:
        try:
            reconcile(campaign)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Worker.objects.select_for_update().get()
            ingested = pool.submit(ingest)
            end = time.monotonic() + PATIENCE
            while not somebody_waits_for_a_lock():
                assert not ingested.done()
                assert time.monotonic() < end
                time.sleep(0.05)
            list(Task.objects.select_for_update(nowait=True))
        ingested.result(PATIENCE)

    assert Response.objects.counting().count() == 2
    assert recount_places(campaign) == 0
