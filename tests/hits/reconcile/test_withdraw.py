"""Withdrawals of own people: the sync asks a real marketplace for them, and discards the work."""

import re
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from django.utils import timezone

from annotate.models import Response, ResponseStatus
from hits.models import Assignment, AssignmentStatus, Sync, WorkerAccount
from hits.mturk import people
from hits.mturk.connection import MarketplaceError
from hits.mturk.endpoints import Endpoint
from hits.reconcile.reconciler import reconcile
from hits.services.accounts import digest_of
from hits.services.worker_data import erase_worker
from qualcontrol.models import Decision
from qualcontrol.services.exclusions import exclude_worker
from tests.factories import NOON, UserFactory
from tests.hits.framed_work import published, work
from tests.hits.marketplace_process import Person
from tests.hits.own_people import link_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(requester):
    return published(tasks=2, workers={"who": "own"})


@pytest.fixture
def mia(client, campaign):
    """A person with a response that has been ingested; Ben has one, too."""
    link = link_of(campaign)
    mia, ben = (Person.join(link, f"{name} of {campaign}") for name in ("Mia", "Ben"))
    for person in (mia, ben):
        work(client, person, campaign, 0)
    reconcile(campaign)
    assert Response.objects.count() == 2
    return mia


def withdrawn() -> list[Response]:
    return list(Response.objects.exclude(withdrawn_at=None))


def test_a_sync_discards_what_a_person_has_withdrawn_and_opens_its_places(campaign, mia):
    missing = sum(task.answers_missing for task in campaign.tasks.all())
    mia.withdraw()

    reconcile(campaign)

    [gone] = withdrawn()
    assert gone.status == ResponseStatus.DISCARDED
    assert sum(task.answers_missing for task in campaign.tasks.all()) == missing + 1
    assert "1 response was withdrawn." in Sync.objects.first().notes
    assert Decision.objects.filter(reason="withdrawn").count() == 1


def test_a_second_sync_changes_nothing(campaign, mia):
    mia.withdraw()
    reconcile(campaign)
    before = list(Response.objects.values()), Decision.objects.count()

    done = reconcile(campaign)

    assert (list(Response.objects.values()), Decision.objects.count()) == before
    assert (done.notes, done.error) == ("", "")


def lacking(client, campaign):
    """How many more people the campaign's page asks for, if it does."""
    page = client.get(f"/campaigns/{campaign.slug}/").content.decode()
    found = re.search(r"cannot finish this: invite at least (\d+) more", page)
    return int(found[1]) if found else 0


def test_a_withdrawal_that_leaves_too_few_people_is_told_on_the_campaigns_page(
    client, campaign, mia
):
    client.force_login(UserFactory(is_superuser=True))
    link = people.groups_of(campaign)[0].link

    two = lacking(client, campaign)
    cid = Person.join(link, f"Cid of {campaign}")
    reconcile(campaign)
    three = lacking(client, campaign)
    mia.withdraw()
    reconcile(campaign)
    after = lacking(client, campaign)
    Person.join(link, f"Dora of {campaign}")
    reconcile(campaign)

    assert cid
    assert (two, three, after, lacking(client, campaign)) == (1, 0, 1, 0)


def test_an_exclusion_that_leaves_too_few_people_is_told(client, campaign, mia):
    client.force_login(UserFactory(is_superuser=True))
    exclude_worker(
        campaign=campaign,
        worker=Response.objects.first().worker,
        reason="careless",
        actor=None,
        at=timezone.now(),
    )

    reconcile(campaign)

    assert lacking(client, campaign) == 2


def test_nobody_who_joined_is_no_fault_but_the_number_of_people_is_told(client, campaign):
    client.force_login(UserFactory(is_superuser=True))
    link_of(campaign)
    reconcile(campaign)

    page = client.get(f"/campaigns/{campaign.slug}/").content.decode()

    assert lacking(client, campaign) == 0
    assert "which you send them. Each image needs 3 different people." in page


def keep_digest():
    for account in WorkerAccount.objects.all():
        account.marketplace_id = digest_of(account.endpoint, account.marketplace_id)
        account.id_deleted_at = NOON
        account.save()


def erase_all():
    Assignment.objects.update(status=AssignmentStatus.APPROVED, decided_at=NOON)
    for account in WorkerAccount.objects.all():
        erase_worker(worker=account.worker, by=None, at=timezone.now())


@pytest.mark.parametrize("delete_ids", [keep_digest, erase_all])
def test_work_is_withdrawn_although_worker_ids_were_deleted(campaign, mia, delete_ids):
    delete_ids()
    mia.withdraw()

    reconcile(campaign)

    assert len(withdrawn()) == 1


def test_a_sync_of_single_hits_does_not_ask(campaign, mia):
    mia.withdraw()

    reconcile(campaign, is_whole=False)

    assert withdrawn() == []


def test_a_marketplace_without_these_addresses_is_no_problem(requester, monkeypatch):
    campaign = published(tasks=1)
    there = people.endpoint_of(campaign.endpoint).url
    nowhere = Endpoint("local", f"{there}/nowhere", (), ())
    monkeypatch.setattr(people, "endpoint_of", lambda _: nowhere)

    assert reconcile(campaign).error == ""


def test_it_is_a_problem_of_a_campaign_for_own_people(campaign, mia, monkeypatch):
    """For example the page of a proxy: what they withdraw would be kept without a word."""
    mia.withdraw()
    nowhere = Endpoint("local", f"{mia.url}/nowhere", (), ())
    monkeypatch.setattr(people, "endpoint_of", lambda _: nowhere)

    done = reconcile(campaign)

    assert "has no groups of people" in done.error


class Proxy(BaseHTTPRequestHandler):
    """A proxy that answers with a page of its own."""

    status = 502
    page = b"<h1>Not now</h1>"

    def do_PUT(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("status", [200, 403, 429, 502])
def test_a_proxys_page_is_no_marketplace_without_these_addresses(campaign, monkeypatch, status):
    monkeypatch.setattr(Proxy, "status", status)
    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        failing = Endpoint("local", f"http://127.0.0.1:{server.server_port}", (), ())
        monkeypatch.setattr(people, "endpoint_of", lambda _: failing)
        Thread(target=server.handle_request).start()
        with pytest.raises(MarketplaceError, match=f"status {status}") as raised:
            people.describe(campaign, "3HITTYPE")

    assert not isinstance(raised.value, people.NoPeople)
    assert raised.value.may_pass


@pytest.mark.parametrize(("status", "may_pass"), [(400, False), (429, True), (503, True)])
def test_a_marketplace_that_is_busy_has_not_refused(campaign, monkeypatch, status, may_pass):
    monkeypatch.setattr(Proxy, "status", status)
    monkeypatch.setattr(Proxy, "page", b'{"error": "Too many calls."}')
    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        busy = Endpoint("local", f"http://127.0.0.1:{server.server_port}", (), ())
        monkeypatch.setattr(people, "endpoint_of", lambda _: busy)
        Thread(target=server.handle_request).start()
        with pytest.raises(MarketplaceError, match="Too many calls") as raised:
            people.describe(campaign, "3HITTYPE")

    assert raised.value.may_pass == may_pass


def test_a_failure_is_told_and_the_sync_continues(campaign, mia, monkeypatch):
    def fail(*_):
        raise MarketplaceError("The marketplace is busy.")

    with monkeypatch.context() as failing:
        failing.setattr(people, "describe", fail)
        done = reconcile(campaign)

    assert "The marketplace is busy." in done.error
    assert campaign.sync_problems.get().subject.startswith("withdrawals of ")
    mia.withdraw()
    assert reconcile(campaign).error == ""
    assert len(withdrawn()) == 1


def test_no_other_campaigns_work_is_touched_by_a_forged_list(campaign, mia, monkeypatch):
    other = published(tasks=1, workers={"who": "own"})
    listed = {
        each.account.marketplace_id: {each.assignment_id} for each in Assignment.objects.all()
    }
    monkeypatch.setattr(people, "withdrawn_work", lambda *_: listed)
    answer = people.Described(page="https://marketplace.example/", withdrawn=2, members=[])
    monkeypatch.setattr(people, "describe", lambda *_: answer)

    reconcile(other)
    assert withdrawn() == []
    reconcile(campaign)
    assert len(withdrawn()) == 2
