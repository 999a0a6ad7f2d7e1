"""Ingest by events: a marketplace process sends to a queue served by moto."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from django.core.management import call_command
from django.utils import timezone

from hits.models import Assignment, AssignmentStatus, Hit, HitType, ProcessedMessage, Sync
from hits.reconcile import events as queue_module
from hits.reconcile.events import Malformed, digest, is_listing_due, parse, take_events
from hits.reconcile.reconciler import reconcile
from hits.reconcile.run import AT_ONCE
from hits.tasks import sync_campaigns
from tests.amazon import running_moto
from tests.factories import make_campaign
from tests.hits.faulty_proxy import faulty_proxy
from tests.hits.framed_work import published
from tests.hits.marketplace_process import MarketplaceProcess, running_marketplace
from tests.servers import PATIENCE

KEYS = {"aws_access_key_id": "sqs", "aws_secret_access_key": "sqs", "region_name": "us-east-1"}


@pytest.fixture(scope="module")
def sqs() -> Iterator[str]:
    """URL of the SQS server."""
    with running_moto() as url:
        yield url


@pytest.fixture(scope="module")
def marketplace(tmp_path_factory, sqs) -> Iterator[MarketplaceProcess]:
    """A marketplace that can send to the queue."""
    with running_marketplace(
        tmp_path_factory.mktemp("marketplace"),
        MARKETPLACE_NOTIFICATION_ENDPOINT=sqs,
        MARKETPLACE_SWEEP_SECONDS="0.1",
        AWS_ACCESS_KEY_ID="sqs",
        AWS_SECRET_ACCESS_KEY="sqs",
    ) as process:
        yield process


class Queue:
    """This test's queue, accessed directly."""

    def __init__(self, endpoint_url: str) -> None:
        self.client = boto3.client("sqs", endpoint_url=endpoint_url, **KEYS)
        name = f"events-{time.monotonic_ns()}"
        self.url = self.client.create_queue(QueueName=name)["QueueUrl"]

    def put(self, body: str | dict[str, Any]) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        self.client.send_message(QueueUrl=self.url, MessageBody=text)

    def counts(self) -> tuple[int, int]:
        """The numbers of waiting messages and of messages that were read and are hidden."""
        found = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        attributes = found["Attributes"]
        return (
            int(attributes["ApproximateNumberOfMessages"]),
            int(attributes["ApproximateNumberOfMessagesNotVisible"]),
        )

    def wait_for(self, count: int) -> None:
        """Wait for this number of messages."""
        _until(lambda: self.counts()[0] >= count)

    def show_again(self) -> None:
        """Make messages that were read and not deleted visible again, as they become after some
        minutes."""
        for message in self.bodies():
            self.put(message)

    def bodies(self) -> list[str]:
        """The bodies of the waiting messages, which remain in the queue."""
        found = self.client.receive_message(
            QueueUrl=self.url, MaxNumberOfMessages=10, VisibilityTimeout=0
        )
        return [message["Body"] for message in found.get("Messages", [])]


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come to this in time"
        time.sleep(0.1)


@pytest.fixture
def queue(sqs, settings) -> Queue:
    """The queue that the requester site reads."""
    made = Queue(sqs)
    settings.MTURK_NOTIFICATION_QUEUE_URL = made.url
    settings.MTURK_SQS_ENDPOINT_URL = sqs
    settings.MTURK_SQS_ACCESS_KEY_ID = settings.MTURK_SQS_SECRET_ACCESS_KEY = "sqs"
    return made


@pytest.fixture
def opened(db, requester, queue):
    """A campaign of one image with three free slots and events sent to the queue."""
    return published(tasks=1)


def submit(worker, campaign) -> str:
    """Submit work at the marketplace without our page; return the assignment's id."""
    assignment_id = worker.accept(campaign.hit_types.get().hit_type_id).assignment_id
    number = campaign.tasks.get().number
    text = f"A brown dog jumps over a low wooden fence near house {assignment_id[:5].lower()}."
    assert worker.submit(assignment_id, **{f"caption-{number}": text}).ok
    return assignment_id


def document(hit: Hit, document_id: str = "d1", **changes: Any) -> dict[str, Any]:
    event = {
        "EventType": "AssignmentSubmitted",
        "EventTimestamp": "2026-01-01T00:00:00Z",
        "HITTypeId": hit.hit_type.hit_type_id,
        "HITId": hit.hit_id,
        **changes,
    }
    return {"EventDocVersion": "2014-08-15", "EventDocId": document_id, "Events": [event]}


def statuses() -> list[str]:
    return list(Assignment.objects.values_list("status", flat=True))


def test_the_hit_of_an_event_is_read_and_the_message_deleted(opened, marketplace, queue):
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)

    taken = take_events(at=timezone.now())

    assert (taken.messages, taken.ingested, taken.complete) == (1, 1, True)
    assert statuses() == [AssignmentStatus.SUBMITTED]
    assert queue.counts() == (0, 0)
    assert Sync.objects.first().api_calls <= 3  # the HIT, and its assignments page by page


def test_events_of_one_hit_are_answered_by_reading_it_once(opened, marketplace, queue):
    for worker in marketplace.fresh_workers(3):
        submit(worker, opened)
    queue.wait_for(4)  # the last one also makes the HIT reviewable

    taken = take_events(at=timezone.now())

    assert (taken.messages, taken.ingested) == (4, 3)
    assert Sync.objects.first().api_calls <= 3


def test_a_hit_that_waited_is_read_although_no_further_event_names_it(
    opened, marketplace, queue, settings
):
    settings.MTURK_READ_WAIT_SECONDS = 60
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)
    waiting = take_events(at=timezone.now())
    since = Hit.objects.get().unread_since

    early = reconcile(opened, at=since + timedelta(seconds=59), is_whole=False)
    due = reconcile(opened, at=since + timedelta(seconds=60), is_whole=False)
    again = reconcile(opened, at=since + timedelta(seconds=61), is_whole=False)

    assert (waiting.ingested, early.ingested, early.api_calls, due.ingested) == (0, 0, 0, 1)
    assert (again.api_calls, Hit.objects.get().unread_since) == (0, None)


@pytest.mark.parametrize("at_once", [AT_ONCE, 0], ids=["read at once", "left to a share"])
def test_a_hit_whose_list_lacked_a_submission_is_read_again_without_an_event(
    opened, marketplace, queue, settings, monkeypatch, at_once
):
    monkeypatch.setattr("hits.reconcile.reading.AT_ONCE", at_once)
    for worker in marketplace.fresh_workers(2):
        submit(worker, opened)
    queue.wait_for(2)
    with faulty_proxy(marketplace.url) as (settings.MARKETPLACE_URL, faults):
        faults.rewrite(
            "ListAssignmentsForHIT",
            lambda reply: {**reply, "Assignments": reply["Assignments"][:1], "NextToken": None},
        )
        partly = take_events(at=timezone.now())
        faults.mend()

        rest = reconcile(opened, is_whole=False)
        again = reconcile(opened, is_whole=False)

    assert (partly.ingested, rest.ingested, again.api_calls) == (1, 1, 0)


def test_repeats_and_another_order_change_nothing(opened, marketplace, queue):
    for worker in marketplace.fresh_workers(3):
        submit(worker, opened)
    queue.wait_for(4)
    bodies = queue.bodies()
    take_events(at=timezone.now())
    syncs = Sync.objects.count()
    for body in [*reversed(bodies), *bodies]:
        queue.put(body)

    again = take_events(at=timezone.now())

    assert (again.messages, again.ingested) == (8, 0)
    assert statuses() == [AssignmentStatus.SUBMITTED] * 3
    assert Sync.objects.count() == syncs  # the marketplace was not even asked
    assert queue.counts() == (0, 0)


def test_an_event_that_is_not_true_changes_nothing(opened, marketplace, queue):
    hit = Hit.objects.get()
    queue.put(document(hit))
    queue.put(document(hit, "d2", EventType="HITDisposed"))

    taken = take_events(at=timezone.now())

    hit.refresh_from_db()
    assert (taken.ingested, statuses(), hit.available) == (0, [], 3)


@pytest.mark.parametrize(
    "body",
    [
        "{{ no JSON }}",
        '["no object"]',
        '{"EventDocId": 5, "Events": []}',
        '{"EventDocId": "d", "Events": ["x"]}',
        '{"EventDocId": "d", "Events": [{"HITId": 7}]}',
        '{"Message": "not JSON either"}',
        '{"EventDocId": "' + "d" * 200 + '", "Events": []}',
    ],
)
def test_a_malformed_message_is_set_aside(db, queue, caplog, body):
    queue.put(body)

    taken = take_events(at=timezone.now())

    message_row = ProcessedMessage.objects.get()
    assert (taken.messages, message_row.body, message_row.document_id) == (0, body, digest(body))
    assert f"processed message {message_row.pk}" in caplog.text
    assert body not in caplog.text
    assert queue.counts() == (0, 0)


def test_a_malformed_message_does_not_hold_up_the_others(opened, marketplace, queue):
    queue.put("not JSON")
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(2)

    assert take_events(at=timezone.now()).ingested == 1


def test_an_event_through_a_topic_is_understood():
    body = json.dumps({"EventDocId": "d1", "Events": [{"HITTypeId": "3T", "HITId": "3H"}]})

    assert parse(json.dumps({"Type": "Notification", "Message": body})) == parse(body)
    assert parse(body).named == (("3T", "3H"),)


def test_a_body_without_events_is_malformed():
    with pytest.raises(Malformed, match="Events"):
        parse('{"EventDocId": "d1"}')


def test_a_message_stays_until_what_it_names_was_read(opened, marketplace, queue, settings):
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)
    [body] = queue.bodies()
    here = settings.MARKETPLACE_URL
    settings.MARKETPLACE_URL, settings.MTURK_MAX_ATTEMPTS = "http://127.0.0.1:9", 1

    assert take_events(at=timezone.now()).ingested == 0
    assert queue.counts() == (0, 1)  # hidden, not deleted
    assert ProcessedMessage.objects.count() == 0

    settings.MARKETPLACE_URL = here
    queue.put(body)
    assert take_events(at=timezone.now()).ingested == 1


def test_a_message_that_could_not_be_deleted_does_no_harm(opened, marketplace, queue, monkeypatch):
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)
    [body] = queue.bodies()

    def killed(messages):
        raise KeyboardInterrupt

    monkeypatch.setattr(queue_module, "delete", killed)
    with pytest.raises(KeyboardInterrupt):
        take_events(at=timezone.now())
    monkeypatch.undo()
    queue.put(body)

    assert take_events(at=timezone.now()).ingested == 0
    assert statuses() == [AssignmentStatus.SUBMITTED]


def test_a_hit_whose_creation_was_never_answered_is_found(opened, marketplace, queue):
    hit = Hit.objects.select_related("hit_type").get()
    body = document(hit, EventType="HITReviewable")
    Hit.objects.filter(pk=hit.pk).update(status="PLANNED", hit_id=None, available=0)
    queue.put(body)

    take_events(at=timezone.now())

    assert Hit.objects.get().hit_id == hit.hit_id


def test_strangers_hits_lead_nowhere(opened, queue):
    queue.put(document(Hit.objects.get(), HITTypeId="3OTHER", HITId="3OTHER"))
    syncs = Sync.objects.count()

    taken = take_events(at=timezone.now())

    assert (taken.messages, Sync.objects.count()) == (1, syncs)
    assert queue.counts() == (0, 0)


def test_publishing_asks_for_events_once(opened, queue):
    assert HitType.objects.get().queue_url == queue.url
    assert reconcile(opened).api_calls <= 2  # the list of HITs, and nothing about events


def test_events_are_called_off_when_the_queue_is_gone(opened, marketplace, queue, settings):
    settings.MTURK_NOTIFICATION_QUEUE_URL = ""
    reconcile(opened)

    submit(marketplace.fresh_workers(1)[0], opened)
    time.sleep(1)

    assert HitType.objects.get().queue_url == ""
    assert queue.counts() == (0, 0)


def test_a_marketplace_that_sends_no_events_is_polled(db, requester, queue, settings, monkeypatch):
    monkeypatch.setattr("hits.reconcile.hit_types.VERSION", "1999-01-01")
    campaign = make_campaign(tasks=1)

    done = reconcile(campaign)

    assert (done.error, done.hits_created) == ("", 1)
    assert is_listing_due(campaign, at=timezone.now())


def test_all_hits_are_listed_at_a_lower_rate(opened, settings):
    now = timezone.now()

    assert not is_listing_due(opened, at=now)
    assert is_listing_due(opened, at=now + timedelta(seconds=settings.MTURK_POLL_SECONDS + 1))


def test_a_listing_that_failed_does_not_count(opened):
    Sync.objects.update(listing="")

    assert is_listing_due(opened, at=timezone.now())


def test_without_a_queue_every_listing_is_due(opened, settings):
    settings.MTURK_NOTIFICATION_QUEUE_URL = ""

    assert is_listing_due(opened, at=timezone.now())
    assert take_events(at=timezone.now()).messages == 0


def test_the_clock_reads_the_queue_and_lists_nothing_in_between(opened, marketplace, queue):
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)

    sync_campaigns()

    assert statuses() == [AssignmentStatus.APPROVED]
    assert list(Sync.objects.values_list("is_whole", "ingested")) == [
        (False, 0),
        (False, 1),
        (True, 0),
    ]


def test_an_unreachable_queue_means_polling(opened, marketplace, queue, settings, caplog):
    submit(marketplace.fresh_workers(1)[0], opened)
    settings.MTURK_SQS_ENDPOINT_URL = "http://127.0.0.1:9"

    sync_campaigns()

    assert statuses() == [AssignmentStatus.APPROVED]
    assert "All HITs are listed instead" in caplog.text


def test_sync_reads_the_queue_and_lists_everything_once(opened, marketplace, queue, capsys):
    submit(marketplace.fresh_workers(1)[0], opened)
    queue.wait_for(1)

    call_command("sync", opened.slug)

    assert "1 queue message read, 1 submission imported" in capsys.readouterr().out
    assert Sync.objects.first().is_whole
