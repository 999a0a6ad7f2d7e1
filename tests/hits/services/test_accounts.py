"""Accounts at a marketplace: created once, and taken along to the marketplace's new address."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from annotate.models import Response, Worker
from hits.models import WorkerAccount
from hits.reconcile.reconciler import reconcile
from hits.services.accounts import workers_for
from tests.hits.framed_work import published, work
from tests.hits.marketplace_process import MarketplaceProcess
from tests.races import in_own_connection, just_before, until_it_waits
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db
OLD = "https://old.example.org"


def test_a_campaign_continues_at_the_marketplaces_new_address(
    client, marketplace: MarketplaceProcess, requester, settings
):
    campaign = published(tasks=1)
    first, second = marketplace.fresh_workers(2)
    work(client, first, campaign)
    reconcile(campaign)
    # As if it had been known under another name until now.
    type(campaign).objects.update(endpoint=OLD)
    WorkerAccount.objects.update(endpoint=OLD)
    campaign.refresh_from_db()
    with pytest.raises(Exception, match="belongs to the marketplace 'https://old"):
        reconcile(campaign)

    settings.MTURK_ENDPOINT = marketplace.url
    call_command("follow_marketplace", OLD)
    campaign.refresh_from_db()
    reconcile(campaign)
    work(client, second, campaign)
    reconcile(campaign)

    assert Response.objects.filter(campaign=campaign).count() == 2
    assert set(WorkerAccount.objects.values_list("endpoint", flat=True)) == {marketplace.url}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_of_two_that_create_an_account_at_once_one_leaves_no_worker_behind():
    def create():
        return workers_for(endpoint="local", marketplace_ids=["AONE"])

    with just_before('INSERT INTO "hits_workeraccount"', create):
        found = create()

    assert found == {"AONE": Worker.objects.get().pk}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_two_that_create_the_same_accounts_in_different_orders_do_not_deadlock():
    """Files name workers in any order."""

    def create(*ids):
        return in_own_connection(lambda: workers_for(endpoint="local", marketplace_ids=ids))

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            workers_for(endpoint="local", marketplace_ids=["AONE"])
            rivals = [
                pool.submit(create, "ATWO", "AONE", "ATHREE"),
                pool.submit(create, "ATHREE", "AONE", "ATWO"),
            ]
            until_it_waits(rivals[1], number=2)
            transaction.set_rollback(True)
        first, second = (rival.result(PATIENCE) for rival in rivals)

    assert first == second
    assert Worker.objects.count() == 3


def test_another_marketplace_is_refused(marketplace, requester, settings):
    campaign = published(tasks=1)
    keys = marketplace.fresh_requester()
    type(campaign).objects.update(endpoint=OLD)
    settings.MTURK_ENDPOINT = marketplace.url
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", keys["access_key"])
        patch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret_key"])
        with pytest.raises(CommandError, match="is not the marketplace that was"):
            call_command("follow_marketplace", OLD)
    with pytest.raises(CommandError, match=f"No campaign belongs to .*Known: {OLD}"):
        call_command("follow_marketplace", "https://misspelt.example.org")
    settings.MTURK_ENDPOINT = "sandbox"
    with pytest.raises(CommandError, match="two addresses of a marketplace of your own"):
        call_command("follow_marketplace", OLD)

    campaign.refresh_from_db()
    assert campaign.endpoint == OLD
