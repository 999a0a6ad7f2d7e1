"""Record events for the requesters who asked for notifications."""

from datetime import UTC, datetime
from typing import Any

from marketplace.models import Assignment, Event, EventType, Hit, NotificationSetting


def record_event(
    *, event_type: EventType, hit: Hit, at: datetime, assignment: Assignment | None = None
) -> None:
    """Queue an event in the caller's transaction, if the HIT type's setting includes it."""
    setting = _setting_for(event_type, hit)
    if setting is None:
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


def is_wanted(event_type: EventType, hit: Hit) -> bool:
    """Whether the HIT type's setting includes such events."""
    return _setting_for(event_type, hit) is not None


def _setting_for(event_type: EventType, hit: Hit) -> NotificationSetting | None:
    """The HIT type's setting, if it includes such events. It may have been read with the HIT."""
    setting = getattr(hit.hit_type, "notification_setting", None)
    includes = setting is not None and setting.is_active and event_type in setting.event_types
    return setting if includes else None


def event_body(
    *, event_type: str, hit: Hit, at: datetime, assignment: Assignment | None = None
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
