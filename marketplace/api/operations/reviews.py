"""Operations for the results of review policies, and for uploaded files."""

from typing import Any

from marketplace.errors import DomainError
from marketplace.models import ReviewAction, ReviewLevel, ReviewResult

from ..lookups import find_assignment, find_hit
from ..paging import page_of
from ..registry import Call, operation


@operation("ListReviewPolicyResultsForHIT")
def list_review_policy_results(call: Call) -> dict[str, Any]:
    hit = find_hit(call.requester, call.params["HITId"])
    levels = call.params.get("PolicyLevels") or [str(level) for level in ReviewLevel]
    answer: dict[str, Any] = {"HITId": hit.public_id}
    reports: dict[str, dict[str, list[Any]]] = {level: {} for level in levels}
    if call.params.get("RetrieveResults", True):
        rows, members = page_of(
            hit.review_results.filter(level__in=levels),
            call.params,
            about=call.about(hit.pk, *levels),
        )
        answer.update({name: value for name, value in members.items() if name == "NextToken"})
        for result in rows:
            reports[result.level].setdefault("ReviewResults", []).append(_result_shape(result))
    # There are few actions, so the first page contains all of them.
    if call.params.get("RetrieveActions", True) and "NextToken" not in call.params:
        for action in hit.review_actions.filter(level__in=levels).order_by("pk"):
            reports[action.level].setdefault("ReviewActions", []).append(_action_shape(action))
    for level, policy in (
        (ReviewLevel.ASSIGNMENT, hit.assignment_review_policy),
        (ReviewLevel.HIT, hit.hit_review_policy),
    ):
        if level in reports and policy is not None:
            answer[f"{level}ReviewPolicy"] = policy
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
    assignment = find_assignment(call.requester, call.params["AssignmentId"])
    # Mechanical Turk stopped supporting uploads, and no form here offers one.
    raise DomainError(
        f"The assignment {assignment.public_id} has no uploaded file for the question "
        f"{call.params['QuestionIdentifier']}."
    )
