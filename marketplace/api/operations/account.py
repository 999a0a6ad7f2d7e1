"""Operations for the balance, bonuses, messages to workers and notifications."""

from decimal import Decimal
from typing import Any

from marketplace.api.calls import (
    Call,
    find_assignment,
    find_hit,
    find_hit_type,
    find_worker,
    listing,
    operation,
)
from marketplace.api.shapes import bonus_shape
from marketplace.errors import DomainError
from marketplace.models import Requester
from marketplace.services import notifications, reviews


@operation("GetAccountBalance")
def get_account_balance(call: Call) -> dict[str, Any]:
    requester = Requester.objects.get(pk=call.requester.pk)
    return {
        "AvailableBalance": requester.available_balance,
        "OnHoldBalance": requester.held_balance,
    }


@operation("SendBonus")
def send_bonus(call: Call) -> None:
    reviews.send_bonus(
        requester=call.requester,
        worker=find_worker(call),
        assignment=find_assignment(call),
        amount=Decimal(call.params["BonusAmount"]),
        reason=call.params["Reason"],
        token=call.params.get("UniqueRequestToken"),
        at=call.at,
    )


@operation("ListBonusPayments")
def list_bonus_payments(call: Call) -> dict[str, Any]:
    rows = call.requester.bonus_payments.select_related("worker", "assignment")
    hit_id, assignment_id = call.params.get("HITId"), call.params.get("AssignmentId")
    if hit_id is None and assignment_id is None:
        raise DomainError("Give a HITId or an AssignmentId.")
    if hit_id is not None:
        rows = rows.filter(hit=find_hit(call))
    if assignment_id is not None:
        rows = rows.filter(assignment=find_assignment(call))
    return listing(call, rows, hit_id, assignment_id, name="BonusPayments", shape=bonus_shape)


@operation("NotifyWorkers")
def notify_workers(call: Call) -> dict[str, Any]:
    failures = reviews.notify_workers(
        requester=call.requester,
        subject=call.params["Subject"],
        text=call.params["MessageText"],
        worker_ids=call.params["WorkerIds"],
        at=call.at,
    )
    return {
        "NotifyWorkersFailureStatuses": [
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": reason,
                "WorkerId": worker_id,
            }
            for worker_id, reason in failures.items()
        ]
    }


@operation("UpdateNotificationSettings")
def update_notification_settings(call: Call) -> None:
    notifications.update_setting(
        hit_type=find_hit_type(call.requester, call.params["HITTypeId"]),
        notification=call.params.get("Notification"),
        is_active=call.params.get("Active"),
    )


@operation("SendTestEventNotification")
def send_test_event_notification(call: Call) -> None:
    notifications.send_test(
        requester=call.requester,
        notification=call.params["Notification"],
        event_type=call.params["TestEventType"],
        at=call.at,
    )
