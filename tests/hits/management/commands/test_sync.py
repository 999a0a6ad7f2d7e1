"""`sync --watch` ends only on a signal: errors are logged and retried."""

from functools import partial
from io import StringIO

import celery
import pytest
from celery import Celery
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone

from annotate.models import Campaign
from background.tasks import PatientTask, hand_on
from hits.management.commands import sync as sync_command
from hits.models import Sync
from hits.reconcile import reconciler
from hits.services.syncs import ask_for_sync
from hits.tasks import sync_campaign
from tests.connections import cut_connection, cuts_connections
from tests.factories import CampaignFactory, UserFactory, make_campaign
from tests.pauses import Stopped, nothing
from tests.servers import free_port

pytestmark = pytest.mark.django_db(transaction=True)


def watch():
    with pytest.raises(Stopped):
        call_command("sync", "--watch", "3600", stdout=StringIO(), stderr=StringIO())


@cuts_connections
def test_a_connection_that_is_cut_between_two_rounds_is_replaced(requester, pauses, caplog):
    campaign = make_campaign(tasks=1)
    pauses.actions = [
        nothing,
        cut_connection,
        lambda: ask_for_sync(campaign=campaign, user=UserFactory(), at=timezone.now()),
    ]

    watch()

    assert campaign.syncs.filter(error="").count() == 2
    assert "could not be finished" not in caplog.text


@cuts_connections
def test_a_connection_that_is_cut_in_a_round_stops_one_campaign_once(
    requester, pauses, monkeypatch, caplog
):
    hit, other = make_campaign(tasks=1), make_campaign(tasks=1)
    cuts = [cut_connection]

    def cut_once(run):
        if run.campaign == hit and cuts:
            cuts.pop()()
            Campaign.objects.count()

    # The log of a sync has words for each of its steps.
    monkeypatch.setitem(reconciler.WORDS, cut_once, "Cut the connection")
    monkeypatch.setattr(reconciler, "STEPS", (cut_once, *reconciler.STEPS))
    # The default of `reconcile` was bound when the module was read.
    monkeypatch.setitem(reconciler.reconcile.__kwdefaults__, "steps", reconciler.STEPS)
    again = partial(ask_for_sync, campaign=hit, user=UserFactory(), at=timezone.now())
    pauses.actions = [nothing, again]

    watch()

    first, second = Sync.objects.filter(campaign=hit).order_by("pk")
    assert first.error.startswith("The database failed: ")
    assert first.finished_at is not None
    assert second.error == ""
    assert not Sync.objects.filter(campaign=other).exclude(error="").exists()
    (line,) = [r for r in caplog.records if "was not synced" in r.message]
    assert line.exc_info is None


def test_a_defect_that_one_campaign_meets_does_not_stop_the_others(requester, pauses, monkeypatch):
    broken, other = make_campaign(tasks=1), make_campaign(tasks=1)
    known = sync_command.reconcile

    def reconcile(campaign, **options):
        if campaign == broken:
            raise KeyError("SubmitTime")
        return known(campaign, **options)

    monkeypatch.setattr(sync_command, "reconcile", reconcile)
    pauses.actions = [nothing]

    watch()

    assert other.syncs.filter(error="", finished_at__isnull=False).count() == 1


def test_the_command_without_watch_names_each_campaign_that_failed(requester, monkeypatch):
    make_campaign(tasks=1)
    call_errors = []

    def reconcile(campaign, **options):
        call_errors.append(campaign.slug)
        raise OperationalError("the server closed the connection\nDETAIL: a row's values")

    monkeypatch.setattr(sync_command, "reconcile", reconcile)

    with pytest.raises(Exception, match="OperationalError: the server closed") as raised:
        call_command("sync", stdout=StringIO(), stderr=StringIO())

    assert call_errors
    assert "DETAIL" not in str(raised.value)


def test_a_worker_puts_a_task_back_where_the_database_does_not_answer():
    app = Celery("test", broker="memory://localhost/", set_as_current=False)
    # Brokers in memory have their queues in common.
    app.conf.task_default_queue = "patient"

    @app.task(base=PatientTask, name="patient", ignore_result=True)
    def patient():
        raise OperationalError("the server closed the connection")

    # As a worker calls a task, the third time.
    patient.push_request(id="1", retries=2, called_directly=False, delivery_info={})

    with pytest.raises(celery.exceptions.Retry) as raised:
        patient.run()

    assert 0 <= raised.value.when <= 2**2
    with app.connection() as broker:
        message = broker.default_channel.basic_get("patient")
    assert (message.headers["task"], message.headers["retries"]) == ("patient", 3)


def test_a_task_without_a_worker_raises_at_once(monkeypatch):
    campaign = CampaignFactory()

    def reconcile(campaign, **options):
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr("hits.tasks.reconcile", reconcile)

    with pytest.raises(OperationalError):
        sync_campaign.delay(campaign.pk)


def test_a_broker_that_does_not_answer_is_logged(settings, caplog):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    app = Celery("test", broker=f"redis://127.0.0.1:{free_port()}/0", set_as_current=False)
    app.conf.broker_transport_options = {"max_retries": 0}

    @app.task(name="of-no-use")
    def task():
        pass

    assert hand_on(task) is False
    assert "The broker did not take of-no-use" in caplog.text
