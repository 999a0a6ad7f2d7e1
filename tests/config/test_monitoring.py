"""Health, metrics, and the ids and log lines of requests."""

import logging
import socket
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotate.models import CampaignStatus
from background.jobs.requests import request_job
from config.celery import app
from shared import health
from shared.metrics import serve_metrics
from tests.factories import CampaignFactory, HitFactory, TaskFactory, TaskPageFactory
from tests.servers import free_port

TOKEN = "a-token-for-prometheus"


@pytest.fixture
def broker_away(settings, monkeypatch):
    """A broker at which nobody listens."""
    settings.CELERY_TASK_ALWAYS_EAGER = False
    monkeypatch.setattr(app.conf, "broker_url", f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setattr(app.conf, "broker_read_url", app.conf.broker_url)


def read(client, settings):
    """The metrics as {name with labels: value}."""
    settings.METRICS_TOKEN = TOKEN
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = (line for line in answer.content.decode().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_an_alive_process_asks_no_service(client):
    answer = client.get("/healthz")

    assert answer.json() == {"status": "ok"}


@pytest.mark.django_db
def test_a_site_that_works_is_ready(client):
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (
        200,
        {
            "status": "ready",
            "checks": dict.fromkeys(["database", "migrations", "broker", "media"], "ok"),
        },
    )


@pytest.mark.django_db
def test_a_missing_migration_is_not_ready(client, monkeypatch):
    monkeypatch.setattr(health, "_is_migrated", health.Event())
    MigrationRecorder.Migration.objects.filter(app="hits").order_by("-name")[0].delete()

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["migrations"] == "failed"


@pytest.mark.django_db
def test_a_media_folder_that_is_a_file_is_not_ready_and_its_name_is_only_logged(
    client, settings, tmp_path, caplog
):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.write_text("")

    answer = client.get("/readyz")

    assert answer.json()["checks"]["media"] == "failed"
    assert str(tmp_path) not in answer.content.decode()
    assert str(tmp_path) in caplog.text


@pytest.mark.django_db
def test_a_site_whose_broker_is_away_is_not_ready_and_still_has_metrics(
    client, settings, broker_away
):
    answer = client.get("/readyz")

    assert [name for name, said in answer.json()["checks"].items() if said == "failed"] == [
        "broker"
    ]
    assert "celery_queue_length" not in read(client, settings)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_health_is_not_redirected_to_https(client, settings, path):
    settings.SECURE_SSL_REDIRECT = True

    assert client.get(path).status_code == 200


@pytest.mark.parametrize("given", [None, "Bearer ", "Bearer another", TOKEN])
@pytest.mark.django_db
def test_metrics_need_the_token(client, settings, given):
    settings.METRICS_TOKEN = TOKEN

    headers = {"Authorization": given} if given else {}

    assert client.get("/metrics", headers=headers).status_code == 404


def test_without_a_token_there_are_no_metrics(client, settings):
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.django_db
def test_metrics_tell_how_running_campaigns_and_jobs_are(client, settings):
    campaign = CampaignFactory(slug="pilot", status=CampaignStatus.RUNNING, budget=Decimal("90"))
    TaskFactory(campaign=campaign, wanted=3)
    now = timezone.now()
    TaskPageFactory(
        hit=HitFactory(campaign=campaign),
        opened_at=now - timedelta(minutes=9),
        expires_at=now + timedelta(hours=1),
        answered_at=now - timedelta(minutes=5),
    )
    CampaignFactory(slug="over", status=CampaignStatus.FINISHED)
    arguments = {"name": "r1", "seed": 1}
    request_job(kind="release", arguments=arguments, user=None, at=now, about=campaign)

    found = read(client, settings)

    assert found['campaign_responses_missing{campaign="pilot"}'] == 3
    assert found['campaign_budget_dollars{campaign="pilot"}'] == 90
    assert 300 <= found['campaign_ingest_lag_seconds{campaign="pilot"}'] < 3600
    assert found['jobs{status="waiting"}'] == 1
    assert found['submissions{status="waiting"}'] == 0
    assert not [name for name in found if 'campaign="over"' in name]


@pytest.mark.django_db
def test_requests_are_measured_by_their_route(client, settings):
    counted = 'http_request_seconds_count{method="GET",route="task/<slug:slug>/",status="404"}'
    before = read(client, settings).get(counted, 0)

    client.get("/task/no-such-campaign/?workerId=A2SUAM1J3GNN3B")

    found = read(client, settings)
    assert found[counted] == before + 1
    assert not [name for name in found if "no-such-campaign" in name or "A2SUAM" in name]


def test_a_word_that_is_not_a_method_makes_no_metric_of_its_own(client, settings, db):
    client.generic("XYZZY", "/healthz")

    assert not [name for name in read(client, settings) if "XYZZY" in name]


def test_each_request_has_an_id_that_clients_do_not_choose(client, settings):
    settings.BEHIND_PROXY = False

    ids = {client.get("/healthz", headers={"X-Request-Id": "mine"})["X-Request-Id"] for _ in "ab"}

    assert len(ids) == 2
    assert "mine" not in ids


@pytest.mark.parametrize(("given", "is_kept"), [("r-1_x", True), ("a b", False), ("x" * 65, False)])
def test_a_proxy_may_choose_the_id(client, settings, given, is_kept):
    settings.BEHIND_PROXY = True

    kept = client.get("/healthz", headers={"X-Request-Id": given})["X-Request-Id"]

    assert (kept == given) is is_kept


@pytest.mark.django_db
def test_logged_requests_have_their_route_and_no_address(settings, caplog, client):
    settings.LOG_REQUESTS = True
    caplog.set_level(logging.INFO, "requests_answered")

    client.get("/task/no-such-campaign/?workerId=A2SUAM1J3GNN3B")

    [entry] = [record for record in caplog.records if record.name == "requests_answered"]
    assert entry.getMessage() == "GET /task/<slug:slug>/ 404"
    assert entry.fields["status"] == 404
    assert "A2SUAM1J3GNN3B" not in str(vars(entry))


def test_a_process_whose_address_of_metrics_is_taken_continues_without(caplog):
    with socket.create_server(("127.0.0.1", 0)) as other:
        serve_metrics(f"127.0.0.1:{other.getsockname()[1]}")

    assert "No metrics are served at METRICS_ADDRESS=127.0.0.1" in caplog.text
