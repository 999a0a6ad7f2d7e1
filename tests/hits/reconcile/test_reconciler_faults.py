"""Faults of the marketplace: each causes a retry or a clear error, and nothing is lost or
repeated."""

from decimal import Decimal

import pytest

from annotate.models import Response, ResponseStatus
from annotate.queries.progress import progress
from hits.models import Assignment, AssignmentStatus, Hit, HitStatus, Sync, SyncProblem
from hits.mturk.client import marketplace_of
from hits.mturk.connection import MarketplaceError
from hits.queries.costs import spend
from hits.reconcile.reconciler import reconcile
from tests.factories import make_campaign
from tests.hits.faulty_proxy import AFTER, BEFORE, DROP, REPEAT, THROTTLE, faulty_proxy
from tests.hits.framed_work import published, work
from tests.servers import free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def faults(marketplace, requester, settings):
    """Connect the site to the marketplace through a faulty proxy; return the proxy's faults."""
    with faulty_proxy(marketplace.url) as (url, planned):
        settings.MARKETPLACE_URL = url
        yield planned


@pytest.mark.parametrize("fault", [BEFORE, AFTER, DROP, THROTTLE])
def test_creating_a_hit_is_repeated_and_makes_one(faults, fault):
    campaign = make_campaign(tasks=1)
    faults.plan("CreateHITWithHITType", fault, fault)

    reconcile(campaign)

    assert len(list(marketplace_of(campaign).hits())) == 1
    assert Hit.objects.get().status == HitStatus.OPEN


@pytest.mark.parametrize("fault", [BEFORE, AFTER, DROP, THROTTLE])
def test_approving_is_repeated_and_pays_once(client, marketplace, faults, fault, settings):
    campaign = published(tasks=1)
    proxied, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, marketplace.url
    work(client, marketplace.fresh_workers(1)[0], campaign)
    settings.MARKETPLACE_URL = proxied
    faults.plan("ApproveAssignment", fault)

    done = reconcile(campaign)

    assert done.approved == 1
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert len(Assignment.objects.all()) == Hit.objects.get().settled == 1


def test_a_listing_that_fails_is_told_and_stops_nothing_else(faults, settings):
    settings.MTURK_MAX_ATTEMPTS = 2
    campaign = make_campaign(tasks=1)
    faults.plan("ListHITs", BEFORE, BEFORE)

    done = reconcile(campaign)
    problem = SyncProblem.objects.get()
    again = reconcile(campaign)

    assert "refused list_hits" in done.error
    assert (problem.subject, done.hits_created) == ("step ingest", 1)
    assert (again.error, SyncProblem.objects.count()) == ("", 0)


def test_a_marketplace_that_answers_nothing_ends_the_run_with_a_sentence(settings, requester):
    settings.MTURK_MAX_ATTEMPTS = 1
    campaign = make_campaign(tasks=1)
    settings.MARKETPLACE_URL = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(MarketplaceError, match="did not answer list_hits"):
        reconcile(campaign)

    assert "did not answer list_hits" in Sync.objects.get().error


def test_a_page_that_comes_again_and_again_ends(client, marketplace, faults, settings):
    campaign = published(tasks=1)
    proxied, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, marketplace.url
    work(client, marketplace.fresh_workers(1)[0], campaign)
    settings.MARKETPLACE_URL = proxied
    faults.plan("ListAssignmentsForHIT", *[REPEAT] * 5)

    done = reconcile(campaign)

    assert done.ingested == 1
    assert Response.objects.get().status == ResponseStatus.SUBMITTED
    assert faults.reached["ListAssignmentsForHIT"] <= 3


def test_a_lost_answer_to_a_listing_loses_no_submission(client, marketplace, faults, settings):
    settings.MTURK_MAX_ATTEMPTS = 1
    campaign = published(tasks=1)
    proxied, settings.MARKETPLACE_URL = settings.MARKETPLACE_URL, marketplace.url
    work(client, marketplace.fresh_workers(1)[0], campaign)
    settings.MARKETPLACE_URL = proxied
    faults.plan("ListAssignmentsForHIT", DROP)

    lost = reconcile(campaign)
    kept = spend(campaign).committed
    reconcile(campaign)

    assert "did not answer" in lost.error
    assert kept == 3 * Decimal("0.12")  # what could not be read may have to be paid
    assert progress(campaign).submitted == 1
