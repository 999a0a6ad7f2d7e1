"""The stories of responses: what happened to each, when, and who did it.

They are read from the rows that there are: task pages, assignments, responses, spot checks and the
decision log. A task page is deleted some time after its assignment ended, so an old response may
lack the first two events.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotate.characters import in_words, shares_of
from annotate.models import Response, ResponseStatus
from hits.models import AssignmentStatus, TaskPage
from qualcontrol.models import Act, Decision
from qualcontrol.queries.decision_log import visible_to_reviewers


@dataclass(frozen=True)
class Event:
    """One event: what happened, who did it (empty if not a person of this site), and why."""

    at: datetime
    what: str
    who: str = ""
    why: str = ""
    # The response that took the place of a discarded one.
    replacement: Response | None = None


def stories(responses: Sequence[Response]) -> dict[int, list[Event]]:
    """The story of each response by its key, the earliest event first. The responses must be all
    those of their tasks, with `submission`, `imported_from`, `worker` and `behaviour`. Takes two
    queries."""
    pages = _pages(responses)
    log: dict[int, list[Decision]] = defaultdict(list)
    entries = visible_to_reviewers(Decision.objects.filter(response__in=responses))
    for entry in entries.select_related("actor").order_by("pk"):
        assert entry.response_id is not None
        log[entry.response_id].append(entry)
    replacements = _replacements(responses, log)
    return {
        response.pk: sorted(
            [
                *_submission(response, pages),
                *_decisions(log[response.pk], replacements.get(response.pk)),
            ],
            key=lambda event: event.at,
        )
        for response in responses
    }


def _pages(responses: Iterable[Response]) -> dict[tuple[int, str], TaskPage]:
    """The pages on which the responses were written, by HIT and assignment."""
    assignments = [response.submission.assignment for response in responses if response.submission]
    pages = TaskPage.objects.filter(
        hit__in={assignment.hit_id for assignment in assignments},
        assignment_id__in={assignment.assignment_id for assignment in assignments},
    )
    written_by = {
        (assignment.hit_id, assignment.assignment_id): assignment.account.marketplace_id
        for assignment in assignments
    }
    return {
        (page.hit_id, page.assignment_id): page
        for page in pages
        if written_by.get((page.hit_id, page.assignment_id)) == page.marketplace_id
    }


def _submission(response: Response, pages: dict[tuple[int, str], TaskPage]) -> Iterable[Event]:
    if response.submission is None:
        file = response.imported_from
        at = file.at if file else response.submitted_at
        if response.submitted_at != at:  # else the time of the import stands for an unknown one
            yield Event(response.submitted_at, "submitted elsewhere")
        yield Event(at, f"imported from {file or 'a file'}")
        return
    assignment = response.submission.assignment
    page = pages.get((assignment.hit_id, assignment.assignment_id))
    if assignment.accepted_at is not None:
        yield Event(assignment.accepted_at, "HIT accepted")
    if page is not None:
        yield Event(page.opened_at, "task claimed by the worker's page")
        if page.answered_at is not None:
            yield Event(page.answered_at, "answer stored")
    behaviour = getattr(response, "behaviour", None)
    shares = shares_of([behaviour.characters]) if behaviour else None
    how = f"{in_words(shares['ways'])}." if shares else ""
    yield Event(response.submitted_at, "submitted to the marketplace", why=how)
    if assignment.decided_at is not None:
        status = AssignmentStatus(assignment.status)
        paid = "assignment approved and paid" if status == AssignmentStatus.APPROVED else ""
        yield Event(
            assignment.decided_at,
            paid or f"assignment {status.label}",
            why=assignment.feedback,
        )


def _decisions(log: Iterable[Decision], replacement: Response | None) -> Iterable[Event]:
    for entry in log:
        yield Event(entry.at, entry.get_act_display(), entry.decided_by, entry.reason)
    if replacement is not None:
        yield Event(replacement.submitted_at, "replaced by another response", "", "", replacement)


def _replacements(
    responses: Sequence[Response], log: dict[int, list[Decision]]
) -> dict[int, Response]:
    """For each discarded response, the first later response to its task that replaces no other."""
    waiting: list[tuple[datetime, Response]] = []
    for response in responses:
        discards = [decision.at for decision in log[response.pk] if decision.act == Act.DISCARD]
        if response.status == ResponseStatus.DISCARDED and discards:
            waiting.append((discards[-1], response))
    taken: set[int] = set()
    replacements = {}
    by_time = sorted(responses, key=lambda response: (response.submitted_at, response.pk))
    for at, response in sorted(waiting, key=lambda pair: (pair[0], pair[1].pk)):
        for other in by_time:
            is_later = other.task_id == response.task_id and other.submitted_at > at
            if is_later and other.pk not in taken:
                taken.add(other.pk)
                replacements[response.pk] = other
                break
    return replacements
