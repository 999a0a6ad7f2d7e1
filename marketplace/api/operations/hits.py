"""Operations for HIT types, their notifications, and HITs."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from marketplace.api.calls import (
    Call,
    find,
    find_hit,
    find_hit_type,
    listed_by,
    listing,
    operation,
)
from marketplace.api.shapes import hit_shape
from marketplace.errors import DoesNotExist, DomainError
from marketplace.models import Hit, HitLayout, HitStatus, HitType
from marketplace.questions import documents
from marketplace.services import hit_types, hits, notifications

DEFAULT_AUTO_APPROVAL_SECONDS = 2_592_000


@operation("CreateHITType")
def create_hit_type(call: Call) -> dict[str, Any]:
    return {"HITTypeId": _hit_type(call).public_id}


@operation("CreateHIT")
def create_hit(call: Call) -> dict[str, Any]:
    try:
        hit_type = _hit_type(call)
    except DomainError:
        # A qualification type may have been deleted since the first call, which made a HIT.
        token = call.params.get("UniqueRequestToken")
        hits.refuse_repeated_creation(requester=call.requester, token=token, at=call.at)
        raise
    return {"HIT": hit_shape(_create_hit(call, hit_type))}


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(call: Call) -> dict[str, Any]:
    hit_type = find_hit_type(call.requester, call.params["HITTypeId"])
    return {"HIT": hit_shape(_create_hit(call, hit_type))}


def _hit_type(call: Call) -> HitType:
    params = call.params
    hit_type = HitType(
        requester=call.requester,
        title=params["Title"],
        description=params["Description"],
        keywords=params.get("Keywords", ""),
        reward=_dollars(params["Reward"]),
        assignment_duration=_seconds(params["AssignmentDurationInSeconds"]),
        auto_approval_delay=_seconds(
            params.get("AutoApprovalDelayInSeconds", DEFAULT_AUTO_APPROVAL_SECONDS)
        ),
        qualification_requirements=params.get("QualificationRequirements", []),
    )
    return hit_types.get_or_create_hit_type(hit_type=hit_type, at=call.at)


def _create_hit(call: Call, hit_type: HitType) -> Hit:
    params = call.params
    question, layout = _question(call)
    return hits.create_hit(
        hit_type=hit_type,
        question=question,
        layout=layout,
        lifetime=_seconds(params["LifetimeInSeconds"]),
        max_assignments=params.get("MaxAssignments", 1),
        requester_annotation=params.get("RequesterAnnotation", ""),
        assignment_review_policy=params.get("AssignmentReviewPolicy"),
        hit_review_policy=params.get("HITReviewPolicy"),
        token=params.get("UniqueRequestToken"),
        at=call.at,
    )


def _question(call: Call) -> tuple[str, HitLayout | None]:
    question, layout_id = call.params.get("Question"), call.params.get("HITLayoutId")
    both = question is not None and layout_id is not None
    if (question is None and layout_id is None) or (both and settings.MTURK_ONE_QUESTION_ONLY):
        raise DomainError("Give either a Question or a HITLayoutId.")
    if question is not None:
        return question, None
    layout = find(call.requester.layouts.all(), call.params["HITLayoutId"], "HITLayout")
    values = {
        parameter["Name"]: parameter["Value"]
        for parameter in call.params.get("HITLayoutParameters", [])
    }
    return documents.fill(layout.template, values), layout


def _dollars(amount: str) -> Decimal:
    """An amount in dollars with two decimals."""
    # A longer number would exceed Decimal's precision, and exceeds every limit anyway.
    return round(Decimal(amount), 2) if len(amount) < 20 else Decimal(amount)


def _seconds(count: int) -> timedelta:
    """A timedelta, clipped to a range that it can represent and that exceeds every limit."""
    return timedelta(seconds=max(min(count, 10**11), -(10**11)))


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


@operation("GetHIT")
def get_hit(call: Call) -> dict[str, Any]:
    hit = find_hit(call)
    if hit.status == HitStatus.DISPOSED and not settings.MTURK_DISPOSED_HITS_READABLE:
        raise DoesNotExist(f"Hit {hit.public_id} does not exist.", code="HITDoesNotExist")
    return {"HIT": hit_shape(hit)}


@operation("ListHITs")
def list_hits(call: Call) -> dict[str, Any]:
    rows = call.requester.hits.undisposed().filter(**listed_by(call.at))
    return _listed(call, rows)


def _listed(call: Call, rows: QuerySet[Hit], *filters: object) -> dict[str, Any]:
    rows = rows.select_related("hit_type", "layout")
    return listing(call, rows, *filters, name="HITs", shape=hit_shape, newest_first=True)


@operation("ListReviewableHITs")
def list_reviewable_hits(call: Call) -> dict[str, Any]:
    status = call.params.get("Status", HitStatus.REVIEWABLE)
    hit_type_id = call.params.get("HITTypeId")
    rows = call.requester.hits.filter(status=status, **listed_by(call.at))
    if hit_type_id is not None:
        rows = rows.filter(hit_type=find_hit_type(call.requester, call.params["HITTypeId"]))
    return _listed(call, rows, status, hit_type_id)


@operation("CreateAdditionalAssignmentsForHIT")
def create_additional_assignments(call: Call) -> None:
    hits.add_assignments(
        hit=find_hit(call),
        count=call.params["NumberOfAdditionalAssignments"],
        token=call.params.get("UniqueRequestToken"),
        at=call.at,
    )


@operation("UpdateExpirationForHIT")
def update_expiration(call: Call) -> None:
    hits.update_expiration(
        hit=find_hit(call),
        expires_at=call.params["ExpireAt"],
        at=call.at,
    )


@operation("UpdateHITReviewStatus")
def update_review_status(call: Call) -> None:
    hits.update_review_status(
        hit=find_hit(call),
        revert=call.params.get("Revert", False),
    )


@operation("UpdateHITTypeOfHIT")
def update_hit_type(call: Call) -> None:
    hits.change_type(
        hit=find_hit(call),
        hit_type=find_hit_type(call.requester, call.params["HITTypeId"]),
        at=call.at,
    )


@operation("DeleteHIT")
def delete_hit(call: Call) -> None:
    hits.delete(hit=find_hit(call), at=call.at)
