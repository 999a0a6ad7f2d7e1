"""The operator's pages for the data of one worker."""

import pytest
from django.utils import timezone

from tests.factories import UserFactory, WorkerAccountFactory
from tests.hits.released_work import released

pytestmark = pytest.mark.django_db


def test_an_operator_finds_downloads_and_erases(client):
    account = WorkerAccountFactory(marketplace_id="AONE")
    released(account, name="pilot")
    client.force_login(UserFactory(is_superuser=True))
    page = f"/workers/{account.worker}/"

    assert client.post("/workers/", {"name": "AONE"}).url == page
    assert b"No worker has" in client.post("/workers/", {"name": "NOBODY"}).content
    assert client.get(f"{page}data.json").json()["account"]["worker_id"] == "AONE"
    refused = client.post(page, {"pseudonym": "W-OTHER"})
    assert refused.status_code == 400
    assert client.post(page, {"pseudonym": str(account.worker)}).url == page

    account.refresh_from_db()
    assert account.id_deleted_at <= timezone.now()
    assert "at the worker's request" in client.get(page).content.decode()


def test_a_researcher_may_not_see_the_data_of_one_worker(client):
    account = WorkerAccountFactory()
    client.force_login(UserFactory())

    assert client.get(f"/workers/{account.worker}/").status_code == 403
    assert client.get(f"/workers/{account.worker}/data.json").status_code == 403
    assert client.post("/workers/", {"name": account.marketplace_id}).status_code == 403
