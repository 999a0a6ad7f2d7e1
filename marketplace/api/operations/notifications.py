"""Operations for notifications."""

from typing import Any

from marketplace.services import notifications

from ..lookups import find_hit_type
from ..registry import Call, operation


@operation("UpdateNotificationSettings")
def update_notification_settings(call: Call) -> dict[str, Any]:
    notifications.update_setting(
        hit_type=find_hit_type(call.requester, call.params["HITTypeId"]),
        notification=call.params.get("Notification"),
        is_active=call.params.get("Active"),
    )
    return {}


@operation("SendTestEventNotification")
def send_test_event_notification(call: Call) -> dict[str, Any]:
    notifications.send_test(
        requester=call.requester,
        notification=call.params["Notification"],
        event_type=call.params["TestEventType"],
        at=call.at,
    )
    return {}
