"""The marketplace's health and metrics."""

from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.models import Hit
from tests.marketplace.factories import make_hit

TOKEN = "a-token-for-prometheus"


def read(client, settings):
    settings.METRICS_TOKEN = TOKEN
    return client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()


@pytest.mark.django_db
def test_a_marketplace_that_works_is_ready(client):
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["checks"] == {"database": "ok", "migrations": "ok"}


@pytest.mark.django_db
def test_metrics_need_the_token(client, settings):
    settings.METRICS_TOKEN = TOKEN

    assert client.get("/metrics").status_code == 404


@pytest.mark.django_db
def test_metrics_count_open_hits_and_calls(client, settings):
    make_hit()
    Hit.objects.update(expires_at=clock.now() + timedelta(hours=1))
    client.post("/", "{}", content_type="application/x-amz-json-1.1")

    text = read(client, settings)

    assert "open_hits 1.0" in text
    assert 'api_calls_total{operation="(none)",outcome="refused"}' in text
