"""Invalid replies of the marketplace during a whole sync.

Nothing raises a traceback, the campaign shows what is wrong, and other campaigns go on. Once the
replies are valid again, the campaign finishes with nothing lost or paid twice.
"""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotate.models import Response, ResponseStatus
from annotate.queries.progress import progress
from hits.models import Assignment, AssignmentStatus, Hit, Sync, SyncProblem
from hits.mturk.client import Marketplace
from hits.mturk.connection import MarketplaceError
from hits.queries.costs import spend
from hits.reconcile import storing
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from tests.factories import make_campaign
from tests.hits.faulty_proxy import faulty_proxy
from tests.hits.framed_work import published, work

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def faults(marketplace, requester, settings):
    """Connect the site to the marketplace through a proxy that can change replies."""
    settings.MTURK_MAX_ATTEMPTS = 2
    with faulty_proxy(marketplace.url) as (url, planned):
        settings.MARKETPLACE_URL = url
        yield planned


def each_hit(**change: Any) -> Change:
    """Apply the change to each HIT of a reply."""

    def made(reply: dict[str, Any]) -> dict[str, Any]:
        if "HIT" in reply:
            return {"HIT": {**reply["HIT"], **change}}
        return {**reply, "HITs": [{**hit, **change} for hit in reply["HITs"]]}

    return made


def each_assignment(**change: Any) -> Change:
    def made(reply: dict[str, Any]) -> dict[str, Any]:
        found = [{**listed, **change} for listed in reply["Assignments"]]
        return {**reply, "Assignments": found}

    return made


def surplus(reply: dict[str, Any]) -> dict[str, Any]:
    """The assignments of the list, and copies of them with other ids."""
    copies = [
        {**listed, "AssignmentId": f"{listed['AssignmentId'][:50]}COPY{number}"}
        for listed in reply["Assignments"]
        for number in range(3)
    ]
    return {**reply, "Assignments": reply["Assignments"] + copies}


def html(reply: dict[str, Any]) -> bytes:
    return b"<html><body>Sign in to the network of this hotel.</body></html>"


def truncated(reply: dict[str, Any]) -> bytes:
    return b'{"HITs": [{"HITId": "3ABC", "Assignments": [{"Assi'


# `tests/hits/mturk/test_replies.py` has what else makes a reply, a HIT or an assignment unusable.
STRANGE: dict[str, tuple[str, Change]] = {
    "list of HITs is HTML": ("ListHITs", html),
    "list of HITs has numbers": ("ListHITs", lambda reply: {"HITs": [1, 2]}),
    "more available than slots": ("ListHITs", each_hit(NumberOfAssignmentsAvailable=40)),
    "more assignments than asked for": ("ListHITs", each_hit(MaxAssignments=7)),
    "list of assignments is truncated": ("ListAssignmentsForHIT", truncated),
    "list of assignments is empty": ("ListAssignmentsForHIT", lambda reply: {}),
    "no SubmitTime": ("ListAssignmentsForHIT", each_assignment(SubmitTime=None)),
    "doubled WorkerId": ("ListAssignmentsForHIT", each_assignment(WorkerId="AX1,AX1")),
    "other HIT's assignments": ("ListAssignmentsForHIT", each_assignment(HITId="3OTHER")),
    "surplus assignments": ("ListAssignmentsForHIT", surplus),
    "approval is HTML": ("ApproveAssignment", html),
}


@pytest.mark.parametrize(("operation", "change"), STRANGE.values(), ids=STRANGE)
def test_a_strange_reply_is_told_in_words_and_got_over(
    client, marketplace, faults, settings, operation, change
):
    campaign = published(tasks=1)
    proxied, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, marketplace.url
    for number, worker in enumerate(marketplace.fresh_workers(3)):
        work(client, worker, campaign, number)
    settings.MARKETPLACE_URL = proxied
    budget = spend(campaign).committed

    faults.rewrite(operation, change)
    if operation == "ListHITs":
        faults.rewrite("GetHIT", change)
    strange = reconcile(campaign)
    during = spend(campaign).committed
    faults.mend()
    reconcile(campaign)
    last = reconcile(campaign)

    assert strange.error
    assert during == budget
    assert (last.error, SyncProblem.objects.count()) == ("", 0)
    assert Response.objects.filter(status=ResponseStatus.SUBMITTED).count() == 3
    assert [each.status for each in Assignment.objects.all()] == [AssignmentStatus.APPROVED] * 3
    hit = Hit.objects.get()
    assert (hit.available, hit.pending, hit.ingested, hit.settled) == (0, 0, 3, 3)
    assert (progress(campaign).complete, recount_places(campaign)) == (1, 0)
    assert spend(campaign).committed == budget


@pytest.mark.parametrize("text", ["Two dogs\x00 run \ud800over a long and sandy beach today.", ""])
def test_an_answer_that_no_database_stores_is_read_too(client, marketplace, faults, settings, text):
    campaign = published(tasks=1)
    proxied, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, marketplace.url
    work(client, marketplace.fresh_workers(1)[0], campaign)
    settings.MARKETPLACE_URL = proxied

    faults.rewrite("ListAssignmentsForHIT", each_assignment(Answer=f"<broken>{text}"))
    done = reconcile(campaign)

    assert (done.ingested, done.error) == (1, "")


@pytest.mark.parametrize("change", [html, truncated, lambda reply: {}, lambda reply: {"HIT": {}}])
def test_a_strange_reply_to_a_creating_call_makes_no_second_hit(faults, change):
    campaign = make_campaign(tasks=1)
    faults.rewrite("CreateHITWithHITType", change)

    strange = reconcile(campaign)
    faults.mend()
    again = reconcile(campaign)

    assert "create_hit_with_hit_type" in strange.error
    assert again.error == ""
    assert faults.reached["CreateHITWithHITType"] == 1  # the next listing has the HIT
    assert Hit.objects.get().hit_id


@pytest.mark.parametrize("operation", ["CreateHITType", "CreateQualificationType"])
def test_a_strange_reply_about_a_type_is_told(faults, operation):
    campaign = make_campaign(tasks=1)
    faults.rewrite(operation, lambda reply: {})

    strange = reconcile(campaign)
    faults.mend()

    assert "cannot be used" in strange.error
    assert reconcile(campaign).hits_created == 1


def test_strange_replies_to_one_campaign_do_not_stop_the_next(faults, settings):
    """Only the HITs of the first campaign have invalid replies."""
    first, second = make_campaign(tasks=1), make_campaign(tasks=1)
    reconcile(first)
    tokens = set(Hit.objects.values_list("token", flat=True))

    def change(reply: dict[str, Any]) -> dict[str, Any]:
        spoilt = [
            {**hit, "HITStatus": "Gone fishing"}
            if any(token in hit.get("RequesterAnnotation", "") for token in tokens)
            else hit
            for hit in reply["HITs"]
        ]
        return {**reply, "HITs": spoilt}

    def spoil_one(reply: dict[str, Any]) -> dict[str, Any]:
        return {"HIT": change({"HITs": [reply["HIT"]]})["HITs"][0]}

    faults.rewrite("ListHITs", change)
    faults.rewrite("GetHIT", spoil_one)
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match=f"{first}: HIT "):
        call_command("sync", stdout=out, stderr=err)

    assert f"{second}: 0 submissions imported" in out.getvalue()
    assert Hit.objects.filter(campaign=second, status="OPEN").exists()
    assert second.syncs.get().error == ""
    assert "HITStatus" in first.syncs.first().error


def test_an_unexpected_error_of_one_hit_stops_that_one(
    client, marketplace, requester, monkeypatch, caplog
):
    """A bug that concerns one HIT does not stop the others."""
    campaign = published(tasks=2)
    worker = marketplace.fresh_workers(1)[0]
    for number in range(2):
        work(client, worker, campaign, number)
    broken = Hit.objects.order_by("pk").first()
    original = storing.ingest_assignments

    def fail(run, reported):
        if any(each.hit == broken for each in reported):
            raise ZeroDivisionError("a defect")
        original(run, reported)

    with monkeypatch.context() as patch:
        patch.setattr(storing, "ingest_assignments", fail)
        done = reconcile(campaign)
    again = reconcile(campaign)

    assert (done.ingested, again.ingested) == (1, 1)
    assert done.error == f"HIT {broken}: An unexpected error: ZeroDivisionError: a defect"
    assert "Traceback" in caplog.text
    assert again.error == ""


def test_the_campaigns_page_names_what_failed(client, faults, admin_client):
    campaign = published(tasks=1)
    hit = Hit.objects.get()
    faults.rewrite("ListHITs", each_hit(MaxAssignments=7))

    reconcile(campaign)
    page = admin_client.get(campaign.get_absolute_url()).content.decode()

    assert "The last sync could not deal with 1 thing." in page
    assert f"<strong>HIT {hit}</strong>: The marketplace has 7 assignments for this HIT" in page


def test_a_marketplace_that_never_answers_one_hit_is_left_alone_by_the_others(
    client, marketplace, requester, monkeypatch
):
    """A call without an answer was retried for minutes: the HIT waits for the next sync.

    Only after several such calls does the sync stop.
    """
    campaign = published(tasks=2)
    worker = marketplace.fresh_workers(1)[0]
    for number in range(2):
        work(client, worker, campaign, number)
    broken = Hit.objects.order_by("-pk").first()
    original = Marketplace.assignments

    def assignments(self, hit_id, **options):
        if hit_id == broken.hit_id:
            raise MarketplaceError("The marketplace did not answer.", "NoAnswer")
        return original(self, hit_id, **options)

    monkeypatch.setattr(Marketplace, "assignments", assignments)

    done = reconcile(campaign)

    assert (done.ingested, done.approved, done.problems) == (1, 1, 1)
    assert Sync.objects.latest("pk").error == f"HIT {broken}: The marketplace did not answer."
