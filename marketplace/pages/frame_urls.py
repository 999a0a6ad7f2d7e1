"""URL, sandbox and height of a task's frame."""

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode

from marketplace.models import Assignment, Hit, Worker
from marketplace.questions import ExternalQuestion, parse_question

PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
# Pages from a requester's text must not act as this site. Without allow-same-origin they have an
# opaque origin, whatever their scripts try. A window that such a page opens belongs to another site
# and has that site's cookies.
OWN_TEXT_SANDBOX = (
    "allow-scripts allow-forms allow-modals allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox"
)


@dataclass(frozen=True)
class Frame:
    url: str
    sandbox: str
    height: int
    assignment_id: str
    worker_id: str


def preview_frame(*, hit: Hit, worker: Worker) -> Frame:
    """The frame that shows a HIT to a worker who has not accepted it."""
    parameters = {"assignmentId": PREVIEW_ID, "hitId": hit.public_id}
    if settings.MTURK_PREVIEW_HAS_WORKER_ID:
        parameters["workerId"] = worker.public_id
    return _frame(hit, parameters)


def assignment_frame(assignment: Assignment) -> Frame:
    """The frame in which the worker does the assignment."""
    return _frame(
        assignment.hit,
        {
            "assignmentId": assignment.public_id,
            "hitId": assignment.hit.public_id,
            "workerId": assignment.worker.public_id,
        },
    )


def _frame(hit: Hit, parameters: dict[str, str]) -> Frame:
    parameters = {**parameters, "turkSubmitTo": settings.MARKETPLACE_URL}
    question = parse_question(hit.question)
    ids = {
        "assignment_id": parameters["assignmentId"],
        "worker_id": parameters.get("workerId", ""),
    }
    if isinstance(question, ExternalQuestion):
        url = question.url_with(parameters)
        return Frame(url, settings.MTURK_FRAME_SANDBOX, question.frame_height, **ids)
    path = reverse("question_frame", args=[hit.public_id])
    url = f"{settings.MARKETPLACE_FRAME_URL}{path}?{urlencode(parameters)}"
    return Frame(url, OWN_TEXT_SANDBOX, question.frame_height, **ids)
