"""Operations on submitted work, its bonuses and the balance, and on its workers."""

from decimal import Decimal
from typing import Any

from marketplace.api.calls import (
    Call,
    find_assignment,
    find_hit,
    find_worker,
    listing,
    operation,
)
from marketplace.api.shapes import assignment_shape, bonus_shape, hit_shape
from marketplace.errors import DomainError
from marketplace.models import (
    REVEALED,
    Requester,
    ReviewAction,
    ReviewLevel,
    ReviewResult,
    WorkerBlock,
)
from marketplace.services import reviews
from marketplace.services.sweep import approve_if_due

LONGEST_FEEDBACK = 1024


@operation("GetAssignment")
def get_assignment(call: Call) -> dict[str, Any]:
    assignment = find_assignment(call)
    return {"Assignment": assignment_shape(assignment), "HIT": hit_shape(assignment.hit)}


@operation("ListAssignmentsForHIT")
def list_assignments_for_hit(call: Call) -> dict[str, Any]:
    hit = find_hit(call)
    statuses = call.params.get("AssignmentStatuses") or [str(status) for status in REVEALED]
    rows = hit.assignments.filter(status__in=statuses).select_related("worker", "hit")
    filters = (hit.pk, *sorted(set(statuses)))
    return listing(call, rows, *filters, name="Assignments", shape=assignment_shape)


@operation("ApproveAssignment")
def approve_assignment(call: Call) -> None:
    reviews.approve(
        assignment=find_assignment(call),
        feedback=_feedback(call),
        override_rejection=call.params.get("OverrideRejection", False),
        at=call.at,
    )


@operation("RejectAssignment")
def reject_assignment(call: Call) -> None:
    assignment, feedback = find_assignment(call), _feedback(call)
    approve_if_due(assignment, at=call.at)
    reviews.reject(assignment=assignment, feedback=feedback, at=call.at)


def _feedback(call: Call) -> str:
    feedback: str = call.params.get("RequesterFeedback", "")
    if len(feedback) > LONGEST_FEEDBACK:
        raise DomainError(f"RequesterFeedback must have at most {LONGEST_FEEDBACK} characters.")
    if any(ord(character) < 32 and character not in "\t\r\n" for character in feedback):
        raise DomainError("RequesterFeedback must not contain control characters.")
    return feedback


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call) -> dict[str, Any]:
    hit = find_hit(call)
    levels = call.params.get("PolicyLevels") or [str(level) for level in ReviewLevel]
    answer: dict[str, Any] = {"HITId": hit.public_id}
    reports: dict[str, dict[str, list[Any]]] = {level: {} for level in levels}
    if call.params.get("RetrieveResults", True):
        results = hit.review_results.filter(level__in=levels)
        filters = (hit.pk, *sorted(set(levels)))
        page = listing(call, results, *filters, name="rows", shape=lambda result: result)
        for result in page["rows"]:
            reports[result.level].setdefault("ReviewResults", []).append(_result_shape(result))
        answer["NextToken"] = page.get("NextToken")
    # There are few actions, so the first page contains all of them.
    if call.params.get("RetrieveActions", True) and "NextToken" not in call.params:
        for action in hit.review_actions.filter(level__in=levels).order_by("pk"):
            reports[action.level].setdefault("ReviewActions", []).append(_action_shape(action))
    for level, policy in (
        (ReviewLevel.ASSIGNMENT, hit.assignment_review_policy),
        (ReviewLevel.HIT, hit.hit_review_policy),
    ):
        if level in reports and policy is not None:
            # The answer has the policy's name alone, as the service's model says.
            answer[f"{level}ReviewPolicy"] = {"PolicyName": policy["PolicyName"]}
            answer[f"{level}ReviewReport"] = reports[level]
    return answer


def _result_shape(result: ReviewResult) -> dict[str, Any]:
    return {
        "ActionId": result.action_id,
        "SubjectId": result.subject_id,
        "SubjectType": result.subject_type,
        "QuestionId": result.question_id or None,
        "Key": result.key,
        "Value": result.value,
    }


def _action_shape(action: ReviewAction) -> dict[str, Any]:
    return {
        "ActionId": action.action_id,
        "ActionName": action.name,
        "TargetId": action.target_id,
        "TargetType": action.target_type,
        "Status": action.status,
        "CompleteTime": action.completed_at,
        "Result": action.result or None,
        "ErrorCode": action.error_code or None,
    }


@operation("GetFileUploadURL")
def get_file_upload_url(call: Call) -> dict[str, Any]:
    assignment = find_assignment(call)
    # Mechanical Turk stopped supporting uploads, and no form here offers one.
    raise DomainError(
        f"The assignment {assignment.public_id} has no uploaded file for the question "
        f"{call.params['QuestionIdentifier']}."
    )


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


@operation("CreateWorkerBlock")
def create_worker_block(call: Call) -> None:
    reviews.block_worker(
        requester=call.requester,
        worker=find_worker(call),
        reason=call.params["Reason"],
        at=call.at,
    )


@operation("DeleteWorkerBlock")
def delete_worker_block(call: Call) -> None:
    reviews.unblock_worker(requester=call.requester, worker=find_worker(call))


@operation("ListWorkerBlocks")
def list_worker_blocks(call: Call) -> dict[str, Any]:
    rows = call.requester.worker_blocks.select_related("worker")
    return listing(call, rows, name="WorkerBlocks", shape=_block_shape)


def _block_shape(block: WorkerBlock) -> dict[str, Any]:
    return {"WorkerId": block.worker.public_id, "Reason": block.reason}


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
