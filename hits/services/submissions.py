"""Submissions: what the marketplace reports becomes a worker, an assignment and responses here.

This is the only way in which a task page has an effect. What the marketplace reports decides; what
the page sent to us is used where that says nothing, and for how the answer was made.

A worker can post anything to the marketplace without opening the page. What fits no task, and what
the page would have refused, is not paid until a person decides (`HeldPayment`).
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import Any

from defusedxml import DefusedXmlException
from django.db import transaction
from django.db.models import Q

from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.models import Campaign, Response, Task, Worker
from annotate.services.places import lock_tasks
from annotate.services.responses import Answered, add_submitted
from hits.models import Assignment, Hit, TaskPage
from hits.mturk.answers import UnreadableAnswer, parse_answer
from hits.mturk.replies import ListedAssignment
from hits.services.accounts import account_for
from hits.task_page.pages import close_pages
from qualcontrol.models import HeldCause
from qualcontrol.services import hold_payment, review_submitted

log = logging.getLogger(__name__)

# Tasks that an answer's fields name are looked up to this number, whatever else they name.
MOST_NAMED = 50
# Characters of an answer that fits no task; of a longer one the beginning is kept.
MOST_KEPT = 20_000


@transaction.atomic
def take_submission(
    *, campaign: Campaign, hit: Hit, listed: ListedAssignment, at: datetime
) -> tuple[Assignment, bool]:
    """The assignment that the marketplace lists as submitted, and whether it is new here. A new
    one is kept with its responses, which are reviewed, and its pages end."""
    account = account_for(endpoint=campaign.endpoint, marketplace_id=listed.worker_id)
    # Worker first, then tasks, as everywhere: an exclusion of this worker takes the same way.
    worker = Worker.objects.select_for_update(no_key=True).get(pk=account.worker_id)
    assignment, is_new = Assignment.objects.get_or_create(
        assignment_id=listed.assignment_id,
        account=account,
        defaults={
            "hit": hit,
            "accepted_at": listed.accepted_at,
            "submitted_at": listed.submitted_at,
        },
    )
    if is_new:
        answer, responses = _place(campaign, assignment, worker, listed.answer, at)
        problems = answer.problems_of(responses)
        review_submitted(campaign=campaign, responses=responses, at=at, problems=problems)
        cause, why = answer.why_held(responses, problems)
        if cause:
            hold_payment(
                campaign=campaign,
                worker=worker,
                assignment=assignment.pk,
                cause=cause,
                why=why,
                at=at,
            )
    return assignment, is_new


def _place(
    campaign: Campaign, assignment: Assignment, worker: Worker, xml: str, at: datetime
) -> tuple["_Answer", list[Response]]:
    """The answer, and the responses that it makes up; one that makes up none is kept as it is."""
    pages = assignment.hit.pages.filter(assignment_id=assignment.assignment_id)
    marketplace_id = assignment.account.marketplace_id
    page = pages.filter(marketplace_id=marketplace_id).first()
    answer = _Answer(campaign, _fields(assignment, xml), page)
    answers = answer.answers
    claimed = Task.objects.filter(claims__page__in=pages)
    # All at once and in order, as two transactions that lock them one by one may block each other.
    lock_tasks(sorted({each.task.pk for each in answers} | {task.pk for task in claimed}))
    responses = add_submitted(worker=worker, answers=answers, at=at, assignment=assignment.pk)
    # Others who opened a page under this assignment have returned it, or never had it.
    close_pages(pages.values_list("pk", flat=True))
    if not responses:
        kept = xml[:MOST_KEPT]
        Assignment.objects.filter(pk=assignment.pk).update(unplaced_answer=kept)
    return answer, responses


def _fields(assignment: Assignment, xml: str) -> dict[str, str]:
    try:
        return parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        log.warning("The answer of %s is unreadable and is stored unchanged.", assignment)
        return {}


@dataclass(frozen=True)
class _Answer:
    """An answer as the marketplace has it, and the page that it was written on, if any."""

    campaign: Campaign
    fields: Mapping[str, str]
    page: TaskPage | None

    @cached_property
    def answers(self) -> list[Answered]:
        """What the fields say of each task, as many as a HIT has images. The marketplace's fields
        come first, because only the worker could submit them there."""
        on_page, elsewhere = self._tasks
        found: dict[int, Answered] = {}
        for task, answer in islice(
            self._read([*on_page, *elsewhere], self.fields), self.campaign.config.hit.images
        ):
            found[task.pk] = self._answered(task, answer)
        stored = self.page.fields if self.page else {}
        missing = self.campaign.config.hit.images - len(found)
        left = [task for task in on_page if task.pk not in found]
        for task, answer in islice(self._read(left, stored), missing):
            found[task.pk] = self._answered(task, answer)
        return list(found.values())

    def problems_of(self, responses: Sequence[Response]) -> dict[int, list[str]]:
        """What the task page would have said of the answers that became responses, by task; nothing
        of those that it checked."""
        new = {response.task_id for response in responses}
        tasks = [answered.task for answered in self.answers if answered.task.pk in new]
        found = {task.pk: self._problems(task) for task in tasks if not self._was_checked(task)}
        return {task: problems for task, problems in found.items() if problems}

    def _problems(self, task: Task) -> list[str]:
        try:
            KINDS[self.campaign.kind].check(task, self.campaign.config, self.fields)
        except AnswerRefused as error:
            return [problem.message for problem in error.problems]
        except AnswerMissing as error:
            return [str(error)]
        return []

    def _was_checked(self, task: Task) -> bool:
        """Whether the answer is the one that the task page checked."""
        stored = self.page.fields if self.page else {}
        if task.number not in _numbers(stored):
            return False
        names = KINDS[self.campaign.kind].field_names(task)
        submitted = {name: self.fields[name] for name in names if name in self.fields}
        return all(stored.get(name, "") == text for name, text in submitted.items())

    def why_held(
        self, responses: Sequence[Response], problems: Mapping[int, Sequence[str]]
    ) -> tuple[HeldCause | None, str]:
        """Why a person has to see this before it is paid; no cause where nobody has to."""
        if problems:
            return HeldCause.RULES, " ".join(chain.from_iterable(problems.values()))
        on_page = {task.pk for task in self._tasks[0]}
        # A page may show a task that the worker answers on another page meanwhile.
        if responses or any(answered.task.pk in on_page for answered in self.answers):
            return None, ""
        if self.answers:
            return HeldCause.NO_TASK, "The worker has submitted an answer to this task before."
        if not self.fields:
            return HeldCause.NO_TASK, "The answer is empty or cannot be read."
        return HeldCause.NO_TASK, "The answer has no field of a task of this campaign."

    def _read(self, tasks: Iterable[Task], fields: Mapping[str, str]) -> Iterator[tuple[Task, Any]]:
        kind = KINDS[self.campaign.kind]
        for task in tasks:
            with suppress(AnswerMissing):
                yield task, kind.read(task, fields)

    @cached_property
    def _tasks(self) -> tuple[list[Task], list[Task]]:
        """The tasks of the page, and others that the fields name: those of a page that has ended,
        or that we never showed."""
        page = self.page
        claimed = set(page.claims.values_list("task_id", flat=True)) if page else set()
        stored = _numbers(page.fields) if page else set()
        named = Q(pk__in=claimed) | Q(number__in=stored | _numbers(self.fields))
        on_page: list[Task] = []
        elsewhere: list[Task] = []
        for task in self.campaign.tasks.filter(named).with_subject().order_by("pk"):
            is_on_page = task.pk in claimed or task.number in stored
            (on_page if is_on_page else elsewhere).append(task)
        return on_page, elsewhere

    def _answered(self, task: Task, answer: Any) -> Answered:
        """The answer with what the page knows of how it was made."""
        page = self.page
        if page is None or page.answered_at is None or str(task.number) not in page.counts:
            return Answered(task, answer)
        seconds = max(0, int((page.answered_at - page.opened_at).total_seconds()))
        return Answered(
            task,
            answer,
            seconds=seconds // len(page.counts),
            behaviour={"device": page.device, **page.counts[str(task.number)]},
        )


def _numbers(fields: Mapping[str, str]) -> set[int]:
    """The numbers of tasks that names of fields end in."""
    ends = (name.rsplit("-", 1)[-1] for name in fields)
    # A number of ten digits would not fit the column.
    numbers = {int(end) for end in ends if end.isdecimal() and len(end) < 10}
    return set(sorted(numbers)[:MOST_NAMED])
