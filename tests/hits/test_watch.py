"""`sync --watch` ends only on a signal: errors are logged and retried."""

import logging
from datetime import timedelta
from io import StringIO

import celery
import pytest
from celery import Celery
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone
from PIL import Image as Picture

from annotate.images import copies as image_copies
from annotate.images import files as image_files
from annotate.management import retry as retry_module
from annotate.management.retry import LONGEST_PAUSE, Retry
from annotate.models import Campaign
from annotate.site.background import PatientTask, hand_on
from hits.management.commands import sync as sync_command
from hits.models import Sync
from hits.reconcile import reconciler
from hits.services.syncs import ask_for_sync
from hits.tasks import sync_campaign
from tests.connections import cut_connection, cuts_connections
from tests.factories import CampaignFactory, ImageFactory, UserFactory
from tests.hits.conftest import make_campaign
from tests.servers import free_port

pytestmark = pytest.mark.django_db(transaction=True)


class Stopped(Exception):
    """Raised in place of a sleep, to end a command that runs forever."""


@pytest.fixture
def pauses(monkeypatch):
    """Replaces pauses: records each, runs one of `pauses.actions`, and finally ends the command."""

    class Pauses(list):
        actions: list = []

    taken = Pauses()

    def pause(seconds):
        taken.append(seconds)
        if not taken.actions:
            raise Stopped
        taken.actions.pop(0)()

    monkeypatch.setattr(sync_command.time, "sleep", pause)
    return taken


def watch():
    with pytest.raises(Stopped):
        call_command("sync", "--watch", "3600", stdout=StringIO(), stderr=StringIO())


def nothing():
    pass


@cuts_connections
def test_a_connection_that_is_cut_between_two_rounds_is_replaced(requester, pauses, caplog):
    campaign = make_campaign(tasks=1)
    pauses.actions = [
        cut_connection,
        lambda: ask_for_sync(campaign=campaign, user=UserFactory(), at=timezone.now()),
    ]

    watch()

    assert campaign.syncs.filter(error="").count() == 2
    assert "Trying again" not in caplog.text


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

    # The log of a sync has words for the names of its steps.
    cut_once.__name__ = reconciler.STEPS[0].__name__
    monkeypatch.setattr(reconciler, "STEPS", (cut_once, *reconciler.STEPS))
    # The default of `reconcile` was bound when the module was read.
    monkeypatch.setitem(reconciler.reconcile.__kwdefaults__, "steps", reconciler.STEPS)
    pauses.actions = [lambda: ask_for_sync(campaign=hit, user=UserFactory(), at=timezone.now())]

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


def test_pauses_grow_with_each_failure_in_a_row_up_to_a_minute(pauses, caplog):
    pauses.actions = [nothing] * 20
    retry = Retry()

    def fail():
        raise OperationalError("no route to host")

    attempts = [retry.attempt(fail) for _ in range(8)]
    retry.attempt(nothing)
    retry.attempt(fail)

    assert attempts == [False] * 8
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, 1]
    assert "Trying again in 60 s: OperationalError: no route to host" in caplog.text


def test_a_defect_is_logged_with_its_traceback(pauses, caplog):
    pauses.actions = [nothing]

    with caplog.at_level(logging.WARNING, logger=retry_module.__name__):
        Retry().attempt(lambda: {}["missing"])

    assert caplog.records[0].exc_info is not None


def test_the_watch_deletes_old_rows(requester, pauses):
    Session.objects.create(
        session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1)
    )

    watch()

    assert not Session.objects.exists()


def test_the_watch_makes_copies_of_images_while_it_waits(requester, pauses):
    image = ImageFactory(key="0001", file="images/validation/0001.png")
    path = image_files.file_path(image)
    path.parent.mkdir(parents=True)
    Picture.new("RGB", (60, 40)).save(path)

    watch()

    assert image_copies.missing_copies(image) == []


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


def test_a_broker_that_does_not_answer_is_logged(caplog):
    app = Celery("test", broker=f"redis://127.0.0.1:{free_port()}/0", set_as_current=False)
    app.conf.broker_transport_options = {"max_retries": 0}

    @app.task(name="of-no-use")
    def task():
        pass

    assert hand_on(task) is False
    assert "The broker did not take of-no-use" in caplog.text
