"""Clients of the requester site and of its API, and what tests send with them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.services.api_tokens import issue_token
from tests import pictures
from tests.factories import CampaignFactory, ResponseFactory, TaskFactory, UserFactory


@pytest.fixture
def user():
    return UserFactory()


@pytest.fixture
def signed_in(client, user):
    """A user's browser."""
    client.force_login(user)
    return client


@pytest.fixture
def api(client):
    """A client of the API that uses a token, like a script."""
    _, text = issue_token(user=UserFactory(), at=timezone.now())
    client.defaults["HTTP_AUTHORIZATION"] = f"Token {text}"
    # The first use in an hour is noted, which would be one more query.
    client.get("/api/")
    return client


def photograph(name="park.jpg", colour="red"):
    return SimpleUploadedFile(name, pictures.photograph(colour, "JPEG", (32, 24)), "image/jpeg")


def send(api, address, **fields):
    return api.post(address, fields, content_type="application/json")


def put(client, campaign, amount, key, **options):
    """Add to the campaign's budget, with an idempotency key."""
    return client.post(
        f"/api/campaigns/{campaign.slug}/budget/",
        {"amount": amount},
        content_type="application/json",
        headers={"Idempotency-Key": key},
        **options,
    )


def problem_of(answer, status):
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    return body


@pytest.fixture
def complete_campaign():
    """A complete campaign of one image with one reference and a baseline."""
    campaign = CampaignFactory(slug="pilot", config={"references": 1, "review": {"share": 0}})
    task = TaskFactory(campaign=campaign)
    for _ in range(task.wanted):
        ResponseFactory(task=task)
    return campaign
