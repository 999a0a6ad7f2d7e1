"""Create workers, assignments and responses from the submissions that the marketplace reports.

Task pages create no responses themselves. The marketplace's fields are used first. The fields that
the page sent to the requester site fill gaps; its times and counts describe how the answer was
written.

A worker can submit anything to the marketplace without opening the page. Answers that fit no task,
and answers that the page would have refused, are not paid until a person decides (`HeldPayment`).
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
from hits.services.task_pages import close_pages
from qualcontrol.models import HeldCause
from qualcontrol.services.held_payments import hold_payment
from qualcontrol.services.intake import review_submitted

log = logging.getLogger(__name__)

# At most this many of the tasks that an answer's fields name are looked up.
MOST_NAMED = 50
# Stored length of an answer that fits no task; the rest is cut off.
MOST_KEPT = 20_000


@transaction.atomic
def take_submission(
    *, campaign: Campaign, hit: Hit, listed: ListedAssignment, at: datetime
) -> tuple[Assignment, bool]:
    """Return the row of a submitted assignment that the marketplace lists, and whether it is new.

    For a new assignment, create its responses, let quality control review them, close its pages,
    and hold the payment if needed.
    """
    account = account_for(endpoint=campaign.endpoint, marketplace_id=listed.worker_id)
    # Lock the worker before the tasks, in the same order as an exclusion does.
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
    """Create the responses of the answer, close the assignment's pages, and return both.

    If there are no responses, the answer's XML is stored with the assignment.
    """
    pages = assignment.hit.pages.filter(assignment_id=assignment.assignment_id)
    marketplace_id = assignment.account.marketplace_id
    page = pages.filter(marketplace_id=marketplace_id).first()
    answer = _Answer(campaign, _fields(assignment, xml), page)
    answers = answer.answers
    claimed = Task.objects.filter(claims__page__in=pages)
    # Lock all tasks at once and in order; otherwise two transactions may cause a deadlock.
    lock_tasks(sorted({each.task.pk for each in answers} | {task.pk for task in claimed}))
    responses = add_submitted(worker=worker, answers=answers, at=at, assignment=assignment.pk)
    # Other workers with a page of this assignment have returned it, or never had it.
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
    """The fields of an answer that the marketplace reports, and the page it was written on."""

    campaign: Campaign
    fields: Mapping[str, str]
    page: TaskPage | None

    @cached_property
    def answers(self) -> list[Answered]:
        """The answer to each task, for at most as many tasks as a HIT has images.

        The marketplace's fields come before the page's, because only the worker can submit there.
        """
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
        """Return the problems that the page would have found in the responses, by task.

        Answers that the page has checked are left out.
        """
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
        """Return whether the task page has checked this answer to the task."""
        stored = self.page.fields if self.page else {}
        if task.number not in _numbers(stored):
            return False
        names = KINDS[self.campaign.kind].field_names(task)
        submitted = {name: self.fields[name] for name in names if name in self.fields}
        return all(stored.get(name, "") == text for name, text in submitted.items())

    def why_held(
        self, responses: Sequence[Response], problems: Mapping[int, Sequence[str]]
    ) -> tuple[HeldCause | None, str]:
        """Return the cause for holding the payment, or None, and its explanation."""
        if problems:
            return HeldCause.RULES, " ".join(chain.from_iterable(problems.values()))
        on_page = {task.pk for task in self._tasks[0]}
        # An answer to a task of the page may have no new response, if the worker has answered the
        # task on another page in the meantime.
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
        """The tasks of the page, and the other tasks that the fields name.

        The others come from a page that was closed, or were never shown to the worker.
        """
        page = self.page
        claimed = dict(page.claims.values_list("task_id", "primed")) if page else {}
        stored = _numbers(page.fields) if page else set()
        named = Q(pk__in=claimed) | Q(number__in=stored | _numbers(self.fields))
        on_page: list[Task] = []
        elsewhere: list[Task] = []
        for task in self.campaign.tasks.filter(named).with_subject().order_by("pk"):
            is_on_page = task.pk in claimed or task.number in stored
            task.primed = claimed.get(task.pk)
            if page and task.number in stored and task.shows_keywords is None:
                # The answer's form may be older than the claim.
                task.primed = task.number in page.primed
            (on_page if is_on_page else elsewhere).append(task)
        return on_page, elsewhere

    def _answered(self, task: Task, answer: Any) -> Answered:
        """Return the answer with its time and behaviour, if the page has recorded them."""
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
    """Return the task numbers at the ends of the fields' names, at most MOST_NAMED."""
    ends = (name.rsplit("-", 1)[-1] for name in fields)
    # Numbers of ten digits may not fit the column.
    numbers = {int(end) for end in ends if end.isdecimal() and len(end) < 10}
    return set(sorted(numbers)[:MOST_NAMED])
