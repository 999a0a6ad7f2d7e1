"""Events arrive in a requester's SQS queue or SNS topic, served by moto."""

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import BotoCoreError

from marketplace import clock
from marketplace.models import Event
from marketplace.services import notifications
from marketplace.services.notifications import LEASE, MOST_ATTEMPTS, deliver
from tests.amazon import running_moto
from tests.marketplace.driver import create_hit, create_hit_type, error_code

CREDENTIALS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}


@pytest.fixture(scope="module")
def aws() -> Iterator[str]:
    """URL of the SQS and SNS server."""
    with running_moto() as url:
        yield url


@pytest.fixture
def client(marketplace):
    return marketplace.requester()


@pytest.fixture
def queue(aws, settings) -> "Queue":
    settings.MTURK_NOTIFICATION_ENDPOINT = aws
    return Queue(aws)


class Queue:
    """A new queue, and the messages that arrived in it."""

    def __init__(self, endpoint_url: str) -> None:
        self.client = boto3.client("sqs", endpoint_url=endpoint_url, **CREDENTIALS)
        self.url = self.client.create_queue(QueueName=uuid.uuid4().hex)["QueueUrl"]
        attributes = self.client.get_queue_attributes(
            QueueUrl=self.url, AttributeNames=["QueueArn"]
        )
        self.arn = attributes["Attributes"]["QueueArn"]

    def documents(self) -> list[dict]:
        found = []
        while True:
            messages = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get(
                "Messages", []
            )
            if not messages:
                return found
            for message in messages:
                found.append(json.loads(message["Body"]))
                self.client.delete_message(
                    QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"]
                )


def specification(destination: str, *events: str, transport: str = "SQS") -> dict:
    return {
        "Destination": destination,
        "Transport": transport,
        "Version": "2014-08-15",
        "EventTypes": list(events),
    }


def subscribed_type(client, queue: "Queue", *events: str) -> str:
    """A HIT type whose events of these kinds go to the queue."""
    hit_type_id = create_hit_type(client)
    client.update_notification_settings(
        HITTypeId=hit_type_id, Notification=specification(queue.url, *events), Active=True
    )
    return hit_type_id


ALL = [
    "AssignmentAccepted", "AssignmentAbandoned", "AssignmentReturned", "AssignmentSubmitted",
    "AssignmentRejected", "AssignmentApproved", "HITCreated", "HITExpired", "HITReviewable",
    "HITExtended", "HITDisposed",
]  # fmt: skip


def happened(queue: Queue) -> list[str]:
    deliver(at=clock.now())
    return sorted(
        event["EventType"] for document in queue.documents() for event in document["Events"]
    )


def test_each_step_of_a_hits_life_is_told(marketplace, client, queue):
    """Conformance check 47."""
    hit_type_id = subscribed_type(client, queue, *ALL)
    worker = marketplace.worker()

    hit_id = create_hit(client, hit_type_id)["HITId"]
    worker.give_back(worker.accept(hit_type_id))
    worker.accept(hit_type_id)
    marketplace.advance(seconds=601)
    client.get_hit(HITId=hit_id)
    assignment_id = worker.work(hit_type_id)
    client.approve_assignment(AssignmentId=assignment_id)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    client.delete_hit(HITId=hit_id)

    assert happened(queue) == sorted(
        ["HITCreated", "AssignmentAccepted", "AssignmentReturned", "AssignmentAccepted",
         "AssignmentAbandoned", "AssignmentAccepted", "AssignmentSubmitted", "HITReviewable",
         "AssignmentApproved", "HITExpired", "HITDisposed"]
    )  # fmt: skip
    assert happened(queue) == []


def test_only_what_was_asked_for_is_told(marketplace, client, queue):
    hit_type_id = subscribed_type(client, queue, "AssignmentSubmitted")
    create_hit(client, hit_type_id, MaxAssignments=2)
    marketplace.worker().work(hit_type_id)
    client.update_notification_settings(HITTypeId=hit_type_id, Active=False)
    marketplace.worker().work(hit_type_id)

    assert happened(queue) == ["AssignmentSubmitted"]


def test_a_test_event_ignores_the_filter_and_comes_at_once(client, queue):
    """Conformance check 47."""
    client.send_test_event_notification(
        Notification=specification(queue.url, "HITExpired"), TestEventType="Ping"
    )

    [document] = queue.documents()
    assert document["EventDocVersion"] == "2014-08-15"
    assert document["Events"][0]["EventType"] == "Ping"


def test_notifications_come_more_than_once_and_in_another_order_on_demand(marketplace, queue):
    """Conformance check 47."""
    marketplace.choose(MTURK_NOTIFICATION_COPIES=2, MTURK_NOTIFICATIONS_NEWEST_FIRST=True)
    client = marketplace.requester()
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    made = [create_hit(client, hit_type_id)["HITId"] for _ in range(2)]

    deliver(at=clock.now())

    documents = queue.documents()
    assert [each["Events"][0]["HITId"] for each in documents] == [made[1]] * 2 + [made[0]] * 2
    assert len({each["EventDocId"] for each in documents}) == 2


def test_sns_carries_the_same_document(client, queue, aws):
    sns = boto3.client("sns", endpoint_url=aws, **CREDENTIALS)
    topic = sns.create_topic(Name="events")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue.arn)

    client.send_test_event_notification(
        Notification=specification(topic, "HITCreated", transport="SNS"),
        TestEventType="HITCreated",
    )

    [envelope] = queue.documents()
    assert json.loads(envelope["Message"])["Events"][0]["EventType"] == "HITCreated"


def test_an_event_that_does_not_arrive_is_sent_again(marketplace, client, queue):
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    create_hit(client, hit_type_id)
    Event.objects.update(destination=queue.url + "-gone")
    assert deliver(at=clock.now()) == 0
    assert deliver(at=clock.now()) == 0
    Event.objects.update(destination=queue.url)

    marketplace.advance(seconds=5)

    assert happened(queue) == ["HITCreated"]


@pytest.mark.parametrize(("ahead", "attempts"), [(timedelta(minutes=5), 0), (timedelta(days=9), 3)])
def test_an_event_of_a_clock_that_was_ahead_does_not_wait_until_then(
    client, queue, ahead, attempts
):
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    create_hit(client, hit_type_id)
    Event.objects.update(due_at=clock.now() + ahead, attempts=attempts)

    assert deliver(at=clock.now()) == 1


def test_an_event_that_a_slow_round_is_sending_is_sent_by_no_other_process(
    client, queue, monkeypatch
):
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    create_hit(client, hit_type_id)
    began = clock.now() - 2 * LEASE
    Event.objects.update(due_at=began)
    send, sent_meanwhile = notifications.send, []

    def send_beside_another_process(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(notifications, "send", send)
            sent_meanwhile.append(deliver(at=clock.now()))
        send(*arguments)

    monkeypatch.setattr(notifications, "send", send_beside_another_process)

    assert deliver(at=began) == 1
    assert sent_meanwhile == [0]
    assert len(queue.documents()) == 1


@pytest.mark.parametrize("error", [BotoCoreError(), UnicodeError("label too long")])
def test_an_event_is_tried_for_two_days_and_the_last_failure_says_so(
    client, queue, monkeypatch, caplog, error
):
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    create_hit(client, hit_type_id)
    at = began = clock.now()

    def refuse(*_arguments):
        raise error

    monkeypatch.setattr(notifications, "send", refuse)
    while event := Event.objects.filter(attempts__lt=MOST_ATTEMPTS).first():
        at = max(at, event.due_at)
        deliver(at=at)

    assert timedelta(days=2) < at - began < timedelta(days=3)
    assert "tries again" in caplog.messages[0]
    assert "gives it up after 60 attempts" in caplog.messages[-1]


def test_a_destination_that_is_not_there_is_an_error(client, queue):
    with pytest.raises(client.exceptions.RequestError) as error:
        client.send_test_event_notification(
            Notification=specification(queue.url + "-gone", "HITCreated"), TestEventType="Ping"
        )

    assert error_code(error) == "InvalidTransportEndpoint"


@pytest.mark.parametrize(
    "change",
    [{"Transport": "Email"}, {"Version": "1999-01-01"}, {"EventTypes": ["Ping"]}],
)
def test_impossible_settings_are_refused(client, change):
    notification = {**specification("https://queue.example", "HITCreated"), **change}

    with pytest.raises(client.exceptions.RequestError):
        client.update_notification_settings(
            HITTypeId=create_hit_type(client), Notification=notification
        )


AMAZONS = "https://sqs.eu-west-1.amazonaws.com/123456789012/events"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:events"
WAYS = [("SQS", AMAZONS), ("SNS", TOPIC)]


@pytest.mark.parametrize(
    "destination",
    [
        "ftp://x", "ftp://127.0.0.1/1/q", "x", "", "https://", "https:///queue", "file:///etc/passwd",
        "https://user@queue.example/1/q", "https://queue.example/1/q?Action=x", "http://[",
        "https://queue.example/1/q#x", "http://h:99999/q", "http://h:0/q", "https://queue.example",
        "https://queue.example/1/\r\nHost: x", "https://queue.example/q " + "x" * 2000, TOPIC,
    ],
)  # fmt: skip
def test_an_address_that_is_not_a_queue_is_refused(marketplace, settings, destination):
    """Even if the operator allows all destinations."""
    settings.NOTIFICATION_DESTINATIONS = ["*"]
    settings.NOTIFICATION_KEYS = ("key", "secret")
    client = marketplace.requester()

    with pytest.raises(client.exceptions.RequestError, match="not a valid SQS queue URL") as error:
        client.update_notification_settings(
            HITTypeId=create_hit_type(client),
            Notification=specification(destination, "HITCreated"),
        )

    assert error_code(error) == "InvalidTransportEndpoint"


@pytest.mark.parametrize("destination", [AMAZONS, "arn:aws:sqs:us-east-1:123456789012:q", "topic"])
def test_an_address_that_is_not_a_topic_is_refused(client, destination):
    with pytest.raises(client.exceptions.RequestError, match="not a valid SNS topic ARN"):
        client.send_test_event_notification(
            Notification=specification(destination, "HITCreated", transport="SNS"),
            TestEventType="Ping",
        )


@pytest.mark.parametrize(("transport", "destination"), WAYS)
@pytest.mark.parametrize(
    ("destinations", "keys"),
    [([], ()), ([AMAZONS, TOPIC], ()), ([], ("key", "secret")), ([f"{AMAZONS}-2"], ("k", "s"))],
)
def test_requesters_cannot_name_a_queue_that_the_operator_did_not_allow(
    marketplace, settings, transport, destination, destinations, keys
):
    settings.NOTIFICATION_DESTINATIONS, settings.NOTIFICATION_KEYS = destinations, keys
    client = marketplace.requester()
    notification = specification(destination, "HITCreated", transport=transport)

    with pytest.raises(client.exceptions.RequestError, match="operator can allow") as error:
        client.update_notification_settings(
            HITTypeId=create_hit_type(client), Notification=notification
        )
    assert error_code(error) == "InvalidTransportEndpoint"
    with pytest.raises(client.exceptions.RequestError, match="operator can allow"):
        client.send_test_event_notification(Notification=notification, TestEventType="Ping")


@pytest.mark.parametrize("host", ["127.0.0.1:1", "sqs.us-east-1.amazonaws.com", "127.0.0.2"])
def test_a_server_of_the_operators_own_is_no_way_to_others(client, queue, host):
    with pytest.raises(client.exceptions.RequestError, match="operator can allow"):
        client.send_test_event_notification(
            Notification=specification(f"https://{host}/123456789012/events", "HITCreated"),
            TestEventType="Ping",
        )


@pytest.mark.parametrize(("transport", "destination"), WAYS)
@pytest.mark.parametrize("is_beginning", [True, False])
def test_notifications_to_allowed_addresses_are_signed_with_the_keys_named_for_them(
    settings, monkeypatch, transport, destination, is_beginning
):
    """Never with the operator's own keys, which boto3 would find in the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-operators-own")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-operators-own")
    settings.NOTIFICATION_KEYS = ("for-notifications", "secret")
    settings.NOTIFICATION_DESTINATIONS = [f"{destination[:-6]}*" if is_beginning else destination]
    notifications.check_destination(transport, destination)
    notifications._client.cache_clear()
    sent = []
    service = transport.lower()

    def refuse(request, **_):
        sent.append(request)
        return AWSResponse(request.url, 403, {}, SimpleNamespace(stream=lambda **_: [b""]))

    client = notifications._client(service, "", "eu-west-1", settings.NOTIFICATION_KEYS)
    client.meta.events.register(f"before-send.{service}", refuse)

    with pytest.raises(notifications.FAILURES):
        notifications.send(transport, destination, "{}")

    [request] = sent
    assert "Credential=for-notifications/" in str(request.headers["Authorization"])
    assert request.url.startswith(f"https://{service}.eu-west-1.amazonaws.com/")


def test_the_operators_own_keys_are_not_used_for_a_server_of_their_own(settings, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-operators-own")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-operators-own")
    client = notifications._client("sqs", "http://127.0.0.1:1", "us-east-1", notifications._NO_KEYS)

    assert client._request_signer._credentials.access_key == "marketplace"


def test_an_event_is_not_sent_where_it_is_no_longer_allowed(client, queue, settings, caplog):
    hit_type_id = subscribed_type(client, queue, "HITCreated")
    create_hit(client, hit_type_id)
    settings.MTURK_NOTIFICATION_ENDPOINT = "http://127.0.0.1:1"

    assert deliver(at=clock.now()) == 0

    assert "not allowed" in caplog.text
    assert deliver(at=clock.now() + timedelta(days=1)) == 0
