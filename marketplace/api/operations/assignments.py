"""Operations that read, approve and reject submitted work."""

from typing import Any

from marketplace.errors import DomainError
from marketplace.models import REVEALED
from marketplace.services import reviews

from ..lookups import find_assignment, find_hit
from ..paging import listing
from ..registry import Call, operation
from ..shapes import assignment_shape, hit_shape

LONGEST_FEEDBACK = 1024


@operation("GetAssignment")
def get_assignment(call: Call) -> dict[str, Any]:
    assignment = find_assignment(call.requester, call.params["AssignmentId"])
    return {"Assignment": assignment_shape(assignment), "HIT": hit_shape(assignment.hit)}


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call) -> dict[str, Any]:
    hit = find_hit(call.requester, call.params["HITId"])
    statuses = call.params.get("AssignmentStatuses") or [str(status) for status in REVEALED]
    return listing(
        hit.assignments.filter(status__in=statuses).select_related("worker", "hit"),
        call.params,
        name="Assignments",
        about=call.about(hit.pk, *sorted(set(statuses))),
        shape=assignment_shape,
    )


@operation("ApproveAssignment")
def approve_assignment(call: Call) -> dict[str, Any]:
    reviews.approve(
        assignment=find_assignment(call.requester, call.params["AssignmentId"]),
        feedback=_feedback(call),
        override_rejection=call.params.get("OverrideRejection", False),
        at=call.at,
    )
    return {}


@operation("RejectAssignment")
def reject_assignment(call: Call) -> dict[str, Any]:
    reviews.reject(
        assignment=find_assignment(call.requester, call.params["AssignmentId"]),
        feedback=_feedback(call),
        at=call.at,
    )
    return {}


def _feedback(call: Call) -> str:
    feedback: str = call.params.get("RequesterFeedback", "")
    if len(feedback) > LONGEST_FEEDBACK:
        raise DomainError(f"RequesterFeedback must have at most {LONGEST_FEEDBACK} characters.")
    if any(ord(character) < 32 and character not in "\t\r\n" for character in feedback):
        raise DomainError("RequesterFeedback must not contain control characters.")
    return feedback
