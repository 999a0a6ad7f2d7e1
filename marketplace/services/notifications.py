"""Notify requesters of events through SQS or SNS, at least once and in no particular order."""

import hashlib
import json
import logging
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from marketplace import ids
from marketplace.errors import DomainError
from marketplace.models import Event, EventType, HitType, NotificationSetting, Requester
from shared.database.queues import claim, held

from . import destinations

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
) -> NotificationSetting:
    """Replace the HIT type's notification, or switch it on or off; raises DomainError."""
    if notification is None and is_active is None:
        raise DomainError("Give a Notification, Active, or both.")
    values: dict[str, Any] = {}
    if notification is not None:
        check_notification(notification)
        if EventType.PING in notification["EventTypes"]:
            raise DomainError("The event type Ping can only be sent as a test.")
        values = {
            "destination": notification["Destination"],
            "transport": notification["Transport"],
            "version": notification["Version"],
            "event_types": list(dict.fromkeys(notification["EventTypes"])),
        }
    elif not NotificationSetting.objects.filter(hit_type=hit_type).exists():
        raise DomainError("There is no Notification for this HITType that Active could apply to.")
    if is_active is not None or notification is not None:
        values["is_active"] = True if is_active is None else is_active
    setting, _created = NotificationSetting.objects.update_or_create(
        hit_type=hit_type, defaults=values
    )
    return setting


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
    destinations.check_destination(notification["Transport"], notification["Destination"])


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
        destinations.send(notification["Transport"], notification["Destination"], text)
    except destinations.FAILURES as error:
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
    due = Event.objects.filter(due_at__lte=at).select_related("requester").order_by(order)
    delivered = 0
    for _ in range(BATCH):
        event = claim(due, lambda _: {"due_at": at + LEASE})
        if event is None:
            break
        delivered += _deliver_one(event, at)
    return delivered


def _deliver_one(event: Event, at: datetime) -> bool:
    if not destinations.is_allowed(event.transport, event.destination):
        # The operator has removed the destination since the requester named it.
        held(event).update(due_at=None)
        logger.warning("Event %s was not sent: its destination is not allowed.", event.document_id)
        return False
    text = document(event.requester, event.version, event.document_id, [event.body])
    try:
        for _ in range(settings.MTURK_NOTIFICATION_COPIES):
            destinations.send(event.transport, event.destination, text)
    except destinations.FAILURES:
        is_last = event.attempts >= MOST_ATTEMPTS
        pause = timedelta(seconds=min(2 ** (event.attempts - 1), LONGEST_PAUSE))
        held(event).update(due_at=None if is_last else at + pause)
        logger.log(
            logging.ERROR if is_last else logging.WARNING,
            "Event %s was not delivered; the marketplace %s.",
            event.document_id,
            f"gives it up after {MOST_ATTEMPTS} attempts" if is_last else "tries again",
        )
        return False
    held(event).update(sent_at=at, due_at=None)
    return True
