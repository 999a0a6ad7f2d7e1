"""Idempotency keys: a repeated request acts once."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import IdempotencyKey
from accounts.services import idempotency
from accounts.services.api_tokens import issue_token
from annotate.models import Campaign
from tests.api import problem_of, put
from tests.factories import CampaignFactory, UserFactory
from tests.threads import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def budget_of(campaign):
    campaign.refresh_from_db()
    return str(campaign.budget)


def test_a_repeated_request_acts_once_and_gets_the_same_answer(api):
    campaign = CampaignFactory(budget="10.00")

    first, second = put(api, campaign, "5.00", "k"), put(api, campaign, "5.00", "k")

    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert budget_of(campaign) == "15.00"


def test_a_key_with_another_body_is_refused(api):
    campaign = CampaignFactory(budget="10.00")
    put(api, campaign, "5.00", "k")

    answer = put(api, campaign, "6.00", "k")

    assert problem_of(answer, 422)["code"] == "key_reused"
    assert budget_of(campaign) == "15.00"


def test_a_key_at_another_address_is_refused(api):
    campaign, other = CampaignFactory(), CampaignFactory(budget="10.00")
    put(api, campaign, "5.00", "k")

    assert put(api, other, "5.00", "k").status_code == 422
    assert budget_of(other) == "10.00"


def test_a_request_that_failed_leaves_its_key_free(api):
    campaign = CampaignFactory(status="FINISHED", budget="10.00")
    refused = put(api, campaign, "5.00", "k")
    Campaign.objects.update(status="RUNNING")

    assert refused.status_code == 409
    assert put(api, campaign, "5.00", "k").status_code == 200
    assert budget_of(campaign) == "15.00"


def test_keys_of_two_accounts_do_not_meet(api):
    campaign = CampaignFactory(budget="10.00")
    other = Client()
    other.force_login(UserFactory())

    put(api, campaign, "5.00", "k")
    put(other, campaign, "6.00", "k")

    assert budget_of(campaign) == "21.00"


@pytest.mark.parametrize("key", ["", "x" * 256, "ключ", "a\tb"])
def test_a_key_is_printable_and_short(api, key):
    assert "Idempotency-Key" in problem_of(put(api, CampaignFactory(), "1.00", key), 400)["errors"]


def test_a_key_is_free_again_after_a_day(api, monkeypatch):
    campaign = CampaignFactory(budget="10.00")
    put(api, campaign, "5.00", "k")
    long_ago = timezone.now() - idempotency.KEYS_ARE_KEPT
    IdempotencyKey.objects.update(created_at=long_ago)

    assert put(api, campaign, "6.00", "k").status_code == 200
    assert budget_of(campaign) == "21.00"


def test_old_keys_are_deleted(api):
    put(api, CampaignFactory(), "5.00", "k")
    at = timezone.now()

    assert idempotency.delete_old_keys(at=at) == 0
    assert idempotency.delete_old_keys(at=at + idempotency.KEYS_ARE_KEPT) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_equal_requests_at_once_one_acts_and_both_get_its_answer():
    campaign = CampaignFactory(budget="10.00")
    _, text = issue_token(user=UserFactory(), at=timezone.now())

    def ask(_):
        return put(Client(headers={"Authorization": f"Token {text}"}), campaign, "5.00", "k")

    first, second = at_once(ask, range(2))

    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert budget_of(campaign) == "15.00"
