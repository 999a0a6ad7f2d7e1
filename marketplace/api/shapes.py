"""The marketplace's rows as structures of the API, and these as JSON. Unset members are omitted."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from botocore.model import ListShape, Shape, StructureShape
from django.conf import settings

from marketplace.models import (
    Assignment,
    AssignmentStatus,
    BonusPayment,
    Hit,
    Qualification,
    QualificationType,
)
from marketplace.requirements import completed


def _seconds(duration: timedelta | None) -> int | None:
    return None if duration is None else int(duration.total_seconds())


def hit_shape(hit: Hit) -> dict[str, Any]:
    """A HIT; select its type in the same query."""
    hit_type = hit.hit_type
    available = hit.available
    if hit.is_expired and settings.MTURK_AVAILABLE_AFTER_EXPIRY == "zero":
        available = 0
    return {
        "HITId": hit.public_id,
        "HITTypeId": hit_type.public_id,
        "HITGroupId": hit_type.group_id,
        "HITLayoutId": hit.layout.public_id if hit.layout else None,
        "CreationTime": hit.created_at,
        "Title": hit_type.title,
        "Description": hit_type.description,
        "Question": hit.question,
        "Keywords": hit_type.keywords or None,
        "HITStatus": hit.status,
        "MaxAssignments": hit.max_assignments,
        "Reward": hit_type.reward,
        "AutoApprovalDelayInSeconds": _seconds(hit_type.auto_approval_delay),
        "Expiration": hit.expires_at,
        "AssignmentDurationInSeconds": _seconds(hit_type.assignment_duration),
        "RequesterAnnotation": hit.requester_annotation or None,
        "QualificationRequirements": [
            completed(requirement) for requirement in hit_type.qualification_requirements
        ],
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": hit.pending,
        "NumberOfAssignmentsAvailable": available,
        "NumberOfAssignmentsCompleted": hit.completed,
    }


def assignment_shape(assignment: Assignment) -> dict[str, Any]:
    """A submitted assignment; select its HIT and worker in the same query."""
    return {
        "AssignmentId": assignment.public_id,
        "WorkerId": assignment.worker.public_id,
        "HITId": assignment.hit.public_id,
        "AssignmentStatus": assignment.status,
        "AutoApprovalTime": assignment.auto_approval_at,
        "AcceptTime": assignment.accepted_at,
        "SubmitTime": assignment.submitted_at,
        "ApprovalTime": assignment.approved_at,
        "RejectionTime": _rejection_time(assignment),
        "Deadline": assignment.deadline,
        "Answer": assignment.answer,
        "RequesterFeedback": assignment.requester_feedback or None,
    }


def _rejection_time(assignment: Assignment) -> datetime | None:
    was_overridden = assignment.status != AssignmentStatus.REJECTED
    if was_overridden and not settings.MTURK_REJECTION_TIME_KEPT:
        return None
    return assignment.rejected_at


def bonus_shape(bonus: BonusPayment) -> dict[str, Any]:
    return {
        "WorkerId": bonus.worker.public_id,
        "BonusAmount": bonus.amount,
        "AssignmentId": bonus.assignment.public_id,
        "Reason": bonus.reason,
        "GrantTime": bonus.granted_at,
    }


def qualification_type_shape(qualification_type: QualificationType) -> dict[str, Any]:
    is_auto = qualification_type.is_auto_granted
    return {
        "QualificationTypeId": qualification_type.public_id,
        "CreationTime": qualification_type.created_at,
        "Name": qualification_type.name,
        "Description": qualification_type.description,
        "Keywords": qualification_type.keywords or None,
        "QualificationTypeStatus": "Active" if qualification_type.is_active else "Inactive",
        "Test": qualification_type.test or None,
        "TestDurationInSeconds": _seconds(qualification_type.test_duration),
        "AnswerKey": qualification_type.answer_key or None,
        "RetryDelayInSeconds": _seconds(qualification_type.retry_delay),
        # System types have no requester and cannot be requested.
        "IsRequestable": qualification_type.requester_id is not None,
        "AutoGranted": is_auto,
        "AutoGrantedValue": qualification_type.auto_granted_value if is_auto else None,
    }


def qualification_shape(qualification: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": qualification.qualification_type.public_id,
        "WorkerId": qualification.worker.public_id,
        "GrantTime": qualification.granted_at,
        "IntegerValue": qualification.value,
        "Status": qualification.status,
    }


def shaped(shape: Shape | None, value: dict[str, Any] | None) -> dict[str, Any]:
    """The response as JSON types, times in epoch seconds; raises KeyError for unknown members."""
    return {} if shape is None or value is None else _shaped(shape, value)


def _shaped(shape: Any, value: Any) -> Any:
    if isinstance(shape, StructureShape):
        return {
            name: _shaped(shape.members[name], member)
            for name, member in value.items()
            if member is not None
        }
    if isinstance(shape, ListShape):
        return [_shaped(shape.member, item) for item in value]
    if isinstance(value, datetime):
        return round(value.timestamp(), 3)
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return value
