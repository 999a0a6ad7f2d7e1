"""Notify requesters of events through SQS or SNS, at least once and in no particular order.

Requesters name a queue or topic. The marketplace only sends to destinations that its operator
allows: the server in `MARKETPLACE_NOTIFICATION_ENDPOINT`, or the Amazon queues and topics listed in
`MARKETPLACE_NOTIFICATION_DESTINATIONS`, with keys made for this purpose. It never uses keys that
boto3 would find by itself, because those are the operator's own.
"""

import hashlib
import json
import logging
import re
import uuid
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from marketplace import clock, ids
from marketplace.errors import DomainError
from marketplace.models import (
    Assignment,
    Event,
    EventType,
    Hit,
    HitType,
    NotificationSetting,
    Requester,
)
from shared.database.queues import claim, held, is_due
from shared.environment import is_url


def record_event(
    *, event_type: EventType, hit: Hit, at: datetime, assignment: Assignment | None = None
) -> None:
    """Queue an event in the caller's transaction, if the HIT type's setting includes it."""
    # The setting may have been read with the HIT.
    setting = getattr(hit.hit_type, "notification_setting", None)
    if setting is None or not setting.is_active or event_type not in setting.event_types:
        return
    Event.objects.create(
        requester_id=hit.requester_id,
        destination=setting.destination,
        transport=setting.transport,
        version=setting.version,
        body=event_body(event_type=event_type, hit=hit, assignment=assignment, at=at),
        happened_at=at,
        due_at=at,
    )


def event_body(
    *, event_type: str, hit: Hit, at: datetime, assignment: Assignment | None
) -> dict[str, Any]:
    """One event as it appears in a notification document."""
    body = {
        "EventType": event_type,
        "EventTimestamp": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITId": hit.public_id,
        "HITTypeId": hit.hit_type.public_id,
        "HITGroupId": hit.hit_type.group_id,
    }
    if assignment is not None:
        body["AssignmentId"] = assignment.public_id
        body["WorkerId"] = assignment.worker.public_id
    return body


logger = logging.getLogger(__name__)
BATCH = 50
# With the pauses between them, about two days.
MOST_ATTEMPTS = 60
LONGEST_PAUSE = 3600  # seconds
# After this time another process may repeat an attempt whose process has died.
LEASE = timedelta(minutes=1)


@transaction.atomic
def update_setting(
    *, hit_type: HitType, notification: dict[str, Any] | None, is_active: bool | None
) -> None:
    """Replace the HIT type's notification, or switch it on or off; raises DomainError."""
    if notification is None and is_active is None:
        raise DomainError("Give a Notification, Active, or both.")
    values: dict[str, Any] = {"is_active": is_active is not False}
    if notification is not None:
        check_notification(notification)
        if EventType.PING in notification["EventTypes"]:
            raise DomainError("The event type Ping can only be sent as a test.")
        values |= {
            "destination": notification["Destination"],
            "transport": notification["Transport"],
            "version": notification["Version"],
            "event_types": list(dict.fromkeys(notification["EventTypes"])),
        }
    elif not NotificationSetting.objects.filter(hit_type=hit_type).exists():
        raise DomainError("There is no Notification for this HITType that Active could apply to.")
    NotificationSetting.objects.update_or_create(hit_type=hit_type, defaults=values)


def check_notification(notification: dict[str, Any]) -> None:
    """Raise DomainError unless the marketplace can send this notification."""
    if notification["Transport"] not in ("SQS", "SNS"):
        raise DomainError(
            f"The transport {notification['Transport']} is not supported; use SQS or SNS.",
            code="InvalidTransportEndpoint",
        )
    if not notification["EventTypes"]:
        raise DomainError("EventTypes must not be empty.")
    if notification["Version"] not in settings.MTURK_NOTIFICATION_VERSIONS:
        raise DomainError(
            f"Version must be one of: {', '.join(settings.MTURK_NOTIFICATION_VERSIONS)}."
        )
    check_destination(notification["Transport"], notification["Destination"])


def send_test(
    *, requester: Requester, notification: dict[str, Any], event_type: str, at: datetime
) -> None:
    """Send a test event now; raises DomainError if it cannot be delivered."""
    check_notification(notification)
    body = {
        "EventType": event_type,
        "EventTimestamp": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "HITTypeId": ids.entity_id(),
        "HITId": ids.entity_id(),
    }
    if event_type.startswith("Assignment"):
        body["AssignmentId"] = ids.entity_id()
    text = document(requester, notification["Version"], uuid.uuid4(), [body])
    try:
        send(notification["Transport"], notification["Destination"], text)
    except FAILURES as error:
        raise DomainError(
            f"The notification could not be delivered: {error}", code="InvalidTransportEndpoint"
        ) from error


def document(
    requester: Requester, version: str, document_id: uuid.UUID, events: list[dict[str, Any]]
) -> str:
    """The notification document as a requester's queue receives it."""
    digest = hashlib.sha256(requester.access_key.encode()).hexdigest()
    return json.dumps(
        {
            "EventDocVersion": version,
            "EventDocId": str(document_id),
            "SourceAccount": f"{int(digest, 16) % 10**12:012d}",
            "CustomerId": f"A{digest[:13].upper()}",
            "Events": events,
        }
    )


def deliver(*, at: datetime) -> int:
    """Send due events; return how many were delivered. Failed ones are retried later."""
    order = "-due_at" if settings.MTURK_NOTIFICATIONS_NEWEST_FIRST else "due_at"
    # Twice, because a process whose round takes long counts the pause from the end. An event that
    # was never tried has no reason to wait: a clock that was ahead has stored it.
    is_now = is_due(at, longest_pause=timedelta(seconds=2 * LONGEST_PAUSE)) | Q(attempts=0)
    due = Event.objects.filter(is_now, due_at__isnull=False)
    due = due.select_related("requester").order_by(order)
    delivered = 0
    for _ in range(BATCH):
        event = claim(due, lambda _: {"due_at": _now(at) + LEASE})
        if event is None:
            break
        delivered += _deliver_one(event, at)
    return delivered


def _now(at: datetime) -> datetime:
    """The time now, in a delivery that may have begun long before, at `at`."""
    return max(at, clock.now())


def _deliver_one(event: Event, at: datetime) -> bool:
    if not is_allowed(event.transport, event.destination):
        # The operator has removed the destination since the requester named it.
        held(event).update(due_at=None)
        logger.warning("Event %s was not sent: its destination is not allowed.", event.document_id)
        return False
    text = document(event.requester, event.version, event.document_id, [event.body])
    try:
        for _ in range(settings.MTURK_NOTIFICATION_COPIES):
            send(event.transport, event.destination, text)
    except Exception as error:
        is_last = event.attempts >= MOST_ATTEMPTS
        pause = timedelta(seconds=min(2 ** (event.attempts - 1), LONGEST_PAUSE))
        held(event).update(due_at=None if is_last else _now(at) + pause)
        logger.log(
            logging.ERROR if is_last else logging.WARNING,
            "Event %s was not delivered (%r); the marketplace %s.",
            event.document_id,
            error,
            f"gives it up after {MOST_ATTEMPTS} attempts" if is_last else "tries again",
        )
        return False
    held(event).update(sent_at=at, due_at=None)
    return True


# Destinations


# Errors that boto3 raises when sending fails or the response is invalid.
FAILURES = (BotoCoreError, ClientError, ResponseParserError)
LONGEST = 1000
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:(?P<region>[a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_.-]{1,256}")
_QUEUE_PATH = re.compile(r"/[A-Za-z0-9_./-]{1,400}")
_REGION = re.compile(r"sqs\.(?P<region>[a-z0-9-]+)\.amazonaws\.com")
# For the operator's own server, which does not check keys.
_NO_KEYS = ("marketplace", "marketplace")


def check_destination(transport: str, destination: str) -> None:
    """Raise DomainError unless the marketplace may send to the destination."""
    is_possible = _TOPIC.fullmatch if transport == "SNS" else _is_queue
    if not is_possible(destination):
        what = "SNS topic ARN" if transport == "SNS" else "SQS queue URL"
        raise _refused(f'The Destination "{destination[:200]}" is not a valid {what}.')
    if not is_allowed(transport, destination):
        raise _refused(
            f'The marketplace does not send notifications to "{destination}". Its operator can '
            "allow this destination."
        )


def _refused(message: str) -> DomainError:
    return DomainError(message, code="InvalidTransportEndpoint")


def _is_queue(destination: str) -> bool:
    if len(destination) > LONGEST or not is_url(destination, "http", "https"):
        return False
    parts = urlsplit(destination)
    return (
        _QUEUE_PATH.fullmatch(parts.path) is not None
        and parts.username is None
        and not (parts.query or parts.fragment)
        and parts.geturl() == destination
    )


def is_allowed(transport: str, destination: str) -> bool:
    """Whether the operator allows notifications to this destination."""
    endpoint = settings.MTURK_NOTIFICATION_ENDPOINT
    if endpoint:
        # All topics of that server, and the queues whose URLs begin with its address.
        return (
            transport == "SNS"
            or _origin(destination) == _origin(endpoint)
            or _is_listed(destination)
        )
    return bool(settings.NOTIFICATION_KEYS) and _is_listed(destination)


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()


def _is_listed(destination: str) -> bool:
    return any(
        destination.startswith(listed.removesuffix("*"))
        if listed.endswith("*")
        else destination == listed
        for listed in settings.NOTIFICATION_DESTINATIONS
    )


def send(transport: str, destination: str, text: str) -> None:
    """Send the text; raises one of FAILURES."""
    endpoint = settings.MTURK_NOTIFICATION_ENDPOINT
    keys = settings.NOTIFICATION_KEYS or _NO_KEYS
    region = _region(transport, destination)
    if transport == "SQS":
        client = _client("sqs", endpoint, region, keys)
        client.send_message(QueueUrl=destination, MessageBody=text)
    else:
        client = _client("sns", endpoint, region, keys)
        client.publish(TopicArn=destination, Message=text)


def _region(transport: str, destination: str) -> str:
    if transport == "SNS":
        match = _TOPIC.fullmatch(destination)
    else:
        match = _REGION.fullmatch(urlsplit(destination).hostname or "")
    return match["region"] if match else "us-east-1"


@lru_cache(maxsize=32)
def _client(
    service: Literal["sqs", "sns"], endpoint_url: str, region: str, keys: tuple[str, str]
) -> Any:
    access_key, secret_key = keys
    return boto3.client(
        service,
        endpoint_url=endpoint_url or None,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 1}),
    )
