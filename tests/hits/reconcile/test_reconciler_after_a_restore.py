"""The database is restored from a backup that is older than the marketplace's state.

The database is really copied, work continues, and the copy is restored.
"""

import os
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from annotate.models import Campaign, CampaignStatus, Response
from annotate.queries.progress import progress
from annotate.services.responses import discard
from hits.models import Assignment, Hit, HitStatus, Installation
from hits.mturk.client import Marketplace, marketplace_of
from hits.queries.costs import spend
from hits.reconcile import retire
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from hits.tasks import close_unknown_hits
from tests.factories import NOON, make_campaign
from tests.hits.framed_work import work
from tests.hits.marketplace_process import NotOffered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def backup(tmp_path) -> Callable[[], Callable[[], None]]:
    """Copies the database; returns a function that restores the copy."""
    return COPIES[connection.vendor](tmp_path)


def copy_of_sqlite(folder: Path) -> Callable[[], Callable[[], None]]:
    live, copy = str(connection.settings_dict["NAME"]), str(folder / "copy.sqlite3")

    def restore() -> None:
        connection.close()
        copied(copy, live)

    def make() -> Callable[[], None]:
        copied(live, copy)
        return restore

    return make


def copied(source: str, target: str) -> None:
    with sqlite3.connect(source) as here, sqlite3.connect(target) as there:
        here.backup(there)
    here.close()
    there.close()


def copy_of_postgresql(folder: Path) -> Callable[[], Callable[[], None]]:
    live = connection.settings_dict["NAME"]
    copy = f"{live}_copy_{os.getpid()}"

    def replace(target: str, source: str) -> None:
        connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN (%s, %s)",
                [target, source],
            )
            cursor.execute(f'DROP DATABASE IF EXISTS "{target}"')
            cursor.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')

    def restore() -> None:
        replace(live, copy)
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{copy}"')

    def make() -> Callable[[], None]:
        replace(copy, live)
        return restore

    return make


COPIES = {"sqlite": copy_of_sqlite, "postgresql": copy_of_postgresql}


def another_programs_hits(campaign: Campaign) -> list[str]:
    """HITs in the same account: without annotation, with another one, and with one in our
    format."""
    client = marketplace_of(campaign)._client
    made = []
    for annotation in (None, "batch 7", "Another1234567890:pilot@20260101000000:token"):
        extra = {"RequesterAnnotation": annotation} if annotation else {}
        made.append(
            client.create_hit(
                Title="Another program's",
                Description="Not ours.",
                Reward="0.05",
                LifetimeInSeconds=3600,
                AssignmentDurationInSeconds=600,
                MaxAssignments=4,
                Question=(
                    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/'
                    'AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"><ExternalURL>'
                    "https://elsewhere.example/</ExternalURL><FrameHeight>0</FrameHeight>"
                    "</ExternalQuestion>"
                ),
                **extra,
            )["HIT"]["HITId"]
        )
    return made


def listed(campaign: Campaign) -> dict:
    return {hit.hit_id: hit for hit in marketplace_of(campaign).hits()}


def submitted_there(campaign: Campaign, hit_ids: list[str]) -> set[str]:
    marketplace: Marketplace = marketplace_of(campaign)
    return {each.assignment_id for key in hit_ids for each in marketplace.assignments(key)}


def test_a_half_done_campaign_is_restored_and_finished(
    client, marketplace, requester, backup, monkeypatch
):
    campaign = make_campaign(tasks=3)
    campaign.budget = Decimal("6.00")
    campaign.save()
    before = marketplace_of(campaign).balance()
    workers = marketplace.fresh_workers(5)
    reconcile(campaign)
    work(client, workers[0], campaign, 0)
    reconcile(campaign)
    others = another_programs_hits(campaign)
    put_back = backup()

    # After the backup: submissions to known HITs, new HITs, settled ones deleted, and a campaign.
    for number, worker in enumerate(workers[:3]):
        for again in range(3 - (worker is workers[0])):
            work(client, worker, campaign, 10 * number + again)
    with monkeypatch.context() as patch:
        patch.setattr(retire, "KEPT_AFTER_SETTLING", timedelta())
        reconcile(campaign)
    discard(responses=Response.objects.order_by("pk")[:3])
    reconcile(campaign)
    work(client, workers[3], campaign, 70)
    reconcile(campaign)
    lost = make_campaign(tasks=1)
    Campaign.objects.filter(pk=lost.pk).update(created_at=NOON + timedelta(days=1))
    reconcile(lost)
    work(client, workers[4], lost, 80)
    gone = Hit.objects.filter(campaign=campaign, status=HitStatus.RETIRED)
    assert gone.exists()
    hit_ids = list(Hit.objects.filter(campaign=campaign).values_list("hit_id", flat=True))
    lost_ids = list(Hit.objects.filter(campaign=lost).values_list("hit_id", flat=True))

    put_back()
    assert Assignment.objects.count() == 1
    first = reconcile(campaign)
    submissions = submitted_there(campaign, hit_ids)

    assert first.error == ""
    assert "adopted" in first.notes
    assert "gone" in first.notes
    assert "1 HIT of a campaign that this database does not have was closed." in first.notes
    # Everything that was submitted is here, and every HIT there is known or closed.
    assert set(Assignment.objects.values_list("assignment_id", flat=True)) == submissions
    there = listed(campaign)
    ours = set(Hit.objects.alive().created().values_list("hit_id", flat=True))
    assert set(there) - ours == {*others, *lost_ids}
    assert all(there[hit_id].status == "Assignable" for hit_id in others)
    assert all(there[hit_id].is_closed for hit_id in lost_ids)
    assert spend(campaign).committed <= campaign.budget

    for round_of_work in range(4):
        for number, worker in enumerate(workers):
            try:
                work(client, worker, campaign, 100 * round_of_work + number)
            except (NotOffered, AssertionError):
                continue
        again = reconcile(campaign)
        assert again.error == ""
        assert spend(campaign).committed <= campaign.budget
        if progress(campaign).complete == 3:
            break
    assert progress(campaign).complete == 3
    assert recount_places(campaign) == 0
    # No HIT is promised to nobody, and the money that left the account is what we know of.
    Campaign.objects.update(status=CampaignStatus.FINISHED)
    for _ in range(3):
        reconcile(campaign)
    assert spend(campaign).open == 0
    hold_of_others = 12 * 6  # cents: reward and least fee of each of their assignments
    # The marketplace holds it until the HIT is deleted, which needs its submission to be decided.
    hold_of_lost = 12 * sum(there[hit_id].max_assignments for hit_id in lost_ids)
    gone_money = before - marketplace_of(campaign).balance()
    assert gone_money * 100 == spend(campaign).committed * 100 + hold_of_others + hold_of_lost


@pytest.mark.parametrize("by_clock", [False, True])
def test_without_a_campaign_sync_closes_what_this_database_made(
    client, marketplace, requester, backup, by_clock
):
    """The backup was made before the only campaign that was published since."""
    Installation.objects.create(pk=Installation.ONLY)
    campaign = make_campaign(tasks=1, status="DRAFT")
    put_back = backup()
    Campaign.objects.update(status="RUNNING")
    reconcile(campaign)
    others = another_programs_hits(campaign)
    put_back()
    out = StringIO()

    if by_clock:
        close_unknown_hits()
    else:
        call_command("sync", stdout=out)
        assert "1 HIT of a campaign that this database does not have was closed." in out.getvalue()

    there = listed(campaign)
    assert {key for key, hit in there.items() if not hit.is_closed} == set(others)


def test_a_draft_that_is_published_again_adopts_its_hits(client, marketplace, requester, backup):
    Installation.objects.create(pk=Installation.ONLY)
    campaign = make_campaign(tasks=1, status="DRAFT")
    put_back = backup()
    Campaign.objects.update(status="RUNNING")
    reconcile(campaign)
    work(client, marketplace.fresh_workers(1)[0], campaign)
    put_back()

    Campaign.objects.update(status="RUNNING")
    done = reconcile(campaign)

    assert (done.ingested, done.hits_created, done.error) == (1, 0, "")
    assert progress(campaign).submitted == 1
