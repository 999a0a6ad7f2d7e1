"""Open task pages, and store the answers sent from them.

The marketplace does not confirm requests to task pages. This module therefore never creates a
worker, a response or a barring; `hits.services.submissions` does, from the marketplace's reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.kinds.practice import FIELD as PRACTICE
from annotate.kinds.practice import is_passed, read_marks
from annotate.models import Campaign, Task, Worker
from corpora.errors import DomainError
from corpora.language.text import Problem
from hits.models import Hit, TaskPage
from hits.services import first_questions
from hits.services.claims import claim_again, claim_tasks, give_back_places, take_places_again
from hits.services.hit_pages import (
    FrameParameters,
    HitPages,
    close_pages,
    close_surplus,
    has_submitted,
    lock_pages,
    visitor_of,
)

# Forms are accepted a little longer than the assignment lasts, for an answer in the last second.
GRACE = timedelta(minutes=5)


class AlreadySubmitted(DomainError):
    """The assignment was submitted already. `fields` are those of an answer that came after it."""

    def __init__(self, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(gettext("You have submitted this task already. Thank you!"))
        self.fields = fields


class NeedsPractice(DomainError):
    """The worker has to practise before the first task."""


class AnswersRefused(DomainError):
    """At least one answer breaks a rule; `problems` maps a task's primary key to its problems."""

    def __init__(self, problems: Mapping[int, list[Problem]]) -> None:
        super().__init__(gettext("Please correct what is marked."))
        self.problems = problems


@dataclass(frozen=True)
class TaskForm:
    """A form that was shown: its frame's parameters, its time, and the numbers of its tasks.

    Answers find their tasks by these numbers, even if the page's row was deleted. `primed` has the
    numbers of tasks whose keywords the form shows, where claims decide this. `practice` has the
    signed marks of the practice that came before.
    """

    frame: FrameParameters
    opened_at: datetime
    numbers: tuple[int, ...]
    primed: tuple[int, ...] = ()
    practice: str = ""


@dataclass(frozen=True)
class OpenPage:
    """The form and the tasks of a task page. It never shows an answer that was sent from it: a
    stranger may have guessed the address."""

    form: TaskForm
    tasks: Sequence[Task]
    is_first: bool  # the worker has not answered a page of the campaign yet


class _Returned(Exception):
    """Some pages of the HIT must give back their places before the page opens."""

    def __init__(self, pages: Sequence[int]) -> None:
        super().__init__()
        self.pages = pages


class _Done(Exception):
    """The page must be closed before it opens again: the worker has submitted all its tasks in
    another assignment."""

    def __init__(self, page: int) -> None:
        super().__init__()
        self.page = page


def open_page(
    *, campaign: Campaign, frame: FrameParameters, at: datetime, practice: str = ""
) -> OpenPage:
    """Open the page of a worker's assignment and return it. A page that is open keeps its tasks.

    `practice` are the signed marks of a practice that the worker has just passed. Raises
    UnknownHit, AlreadySubmitted, NothingToDo, WaitsForVerdicts, or NeedsPractice.
    """
    gives_back = True
    # Pages are changed between two turns, because a transaction that waits for tasks must not have
    # locked other tasks already.
    while True:
        try:
            return _open(campaign, frame, at, practice, gives_back=gives_back)
        except _Returned as found:  # in one turn at most
            give_back_places(pages=found.pages)
            gives_back = False
        except _Done as found:  # the next turn makes a new page
            close_pages([found.page])
        except TaskPage.DoesNotExist:  # the page was closed between two reads of it
            continue


def shown_again(*, campaign: Campaign, form: TaskForm) -> OpenPage:
    """The page for a form that the worker has to correct."""
    visitor = visitor_of(campaign, form.frame)
    return OpenPage(form, _tasks(campaign, form), is_first=not visitor.has_written)


def _open(
    campaign: Campaign, frame: FrameParameters, at: datetime, practice: str, *, gives_back: bool
) -> OpenPage:
    """One transaction; if it raises _Done or, with `gives_back`, _Returned, it changes nothing."""
    with transaction.atomic():
        pages = lock_pages(campaign, frame)
        # Read after the lock: an ingest that closed the page has stored its assignment.
        visitor = visitor_of(campaign, frame)
        if visitor.has_submitted:
            raise AlreadySubmitted
        if gives_back and (returned := pages.returned(is_at_work=True)):
            raise _Returned(returned)
        page = pages.own
        worker = Worker(pk=visitor.worker) if visitor.worker else None
        tasks = _still_open(page, worker) if page else []
        if page is None or not tasks:
            visitor.refuse_new_task(campaign)
            if not (practice or visitor.has_come or _has_practised(campaign, frame)):
                raise NeedsPractice
            if page:
                raise _Done(page.pk)
            kept = {PRACTICE: practice} if practice else {}
            page = _new_page(pages.hit, frame, opened_at=at, at=at, fields=kept)
            tasks = claim_tasks(
                campaign=campaign,
                worker=worker,
                page=page,
                count=campaign.config.hit.images,
            )
    if page is not pages.own and pages.are_too_many:
        close_surplus(pages.hit, keep=page)
    form = TaskForm(
        frame,
        page.opened_at,
        tuple(task.number for task in tasks),
        primed=tuple(task.number for task in tasks if task.primed),
        practice=page.fields.get(PRACTICE, "") if campaign.config.practice.captions else "",
    )
    return OpenPage(form, tasks, is_first=not visitor.has_written)


def _has_practised(campaign: Campaign, frame: FrameParameters) -> bool:
    """Whether a worker of whom the marketplace has reported nothing yet needs no practice.

    Answers that were sent from other pages with the worker's id may be forged. They only spare the
    worker the practice, which their sender has passed.
    """
    if not campaign.config.practice.captions:
        return True
    pages = TaskPage.objects.of(campaign).answered().filter(marketplace_id=frame.worker_id)
    others = pages.exclude(hit__hit_id=frame.hit_id, assignment_id=frame.assignment_id)
    for fields in others.values_list("fields", flat=True):
        marks = read_marks(campaign, frame.worker_id, fields.get(PRACTICE, ""))
        if marks and is_passed(campaign.config, marks):
            return True
    return False


def _still_open(page: TaskPage, worker: Worker | None) -> list[Task]:
    """The page's tasks, without those that the worker has submitted in another assignment since."""
    claims = page.claims.select_related("task__campaign", "task__image", "task__subject")
    tasks = []
    for claim in claims.order_by("pk"):
        claim.task.primed = claim.primed
        tasks.append(claim.task)
    if not worker:
        return tasks
    answered = set(worker.responses.filter(task__in=tasks).values_list("task_id", flat=True))
    return [task for task in tasks if task.pk not in answered]


def check_answers(*, campaign: Campaign, form: TaskForm, fields: Mapping[str, str]) -> None:
    """Raises AnswersRefused if the answers break a rule; stores nothing."""
    _check(campaign, form, _tasks(campaign, form), fields)


def store_answers(
    *,
    campaign: Campaign,
    form: TaskForm,
    fields: Mapping[str, str],
    counts: Mapping[int, Mapping[str, float]],
    device: str,
    at: datetime,
) -> dict[str, str]:
    """Check and store the answers sent from a form, with the device and the behaviour counts by
    task number.

    Stores all answers or none, and replaces answers sent earlier. Creates the page again if it was
    closed. Returns the fields to submit to the marketplace. Raises UnknownHit, AlreadySubmitted, or
    AnswersRefused.
    """
    tasks = _tasks(campaign, form)
    try:
        answers = _check(campaign, form, tasks, fields)
    except AnswersRefused:
        # After a submission, there is nothing to correct.
        _refuse_submitted(form.frame)
        raise
    kind = KINDS[campaign.kind]
    passed_on = {PRACTICE: form.practice} if form.practice else {}
    for task in tasks:
        passed_on |= kind.fields_of(task, answers[task.pk])
    values = {
        "answered_at": at,
        "fields": passed_on,
        "counts": {str(task.number): counts.get(task.number, {}) for task in tasks},
        "primed": form.primed,
        "device": device,
    }
    with transaction.atomic():
        pages = lock_pages(campaign, form.frame)
        _refuse_submitted(form.frame, passed_on)
        made = _keep(pages, form, tasks, values, at)
    if made and pages.are_too_many:
        close_surplus(pages.hit, keep=made)
    if returned := pages.returned(is_at_work=False):
        give_back_places(pages=returned)
    return passed_on


def _keep(
    pages: HitPages,
    form: TaskForm,
    tasks: Sequence[Task],
    values: Mapping[str, Any],
    at: datetime,
) -> TaskPage | None:
    """Store these values with the form's page; return the page if it had to be created again."""
    if own := pages.own:
        # Lock the tasks before the page, as `close_pages` does; otherwise the two could deadlock.
        if own.gave_place_back:
            take_places_again(page=own.pk)
        if TaskPage.objects.filter(pk=own.pk).update(**values):
            return None
    # The page may have been closed because a sync has just ingested its assignment.
    _refuse_submitted(form.frame, values["fields"])
    # A clock that was put back must not lose the answer.
    opened_at = min(form.opened_at, at)
    page = _new_page(pages.hit, form.frame, opened_at=opened_at, at=at, **values)
    claim_again(page=page.pk, tasks=tasks)
    return page


def _refuse_submitted(frame: FrameParameters, fields: Mapping[str, str] | None = None) -> None:
    if has_submitted(frame):
        raise AlreadySubmitted(fields)


def _new_page(
    hit: Hit, frame: FrameParameters, *, opened_at: datetime, at: datetime, **values: Any
) -> TaskPage:
    minutes = hit.campaign.config.hit.minutes
    return TaskPage.objects.create(
        hit=hit,
        assignment_id=frame.assignment_id,
        marketplace_id=frame.worker_id,
        opened_at=opened_at,
        expires_at=at + timedelta(minutes=minutes),
        **values,
    )


def _tasks(campaign: Campaign, form: TaskForm) -> list[Task]:
    """The form's tasks, in the order of the form, with what the checks of their answers read. A
    form that is shown again without a script reads each image by itself."""
    tasks = campaign.tasks.filter(number__in=form.numbers).select_related("subject")
    for task in tasks:
        task.primed = task.number in form.primed if task.shows_keywords is None else None
    return sorted(tasks, key=lambda task: form.numbers.index(task.number))


def _check(
    campaign: Campaign, form: TaskForm, tasks: Sequence[Task], fields: Mapping[str, str]
) -> dict[int, Any]:
    kind, config = KINDS[campaign.kind], campaign.config
    answers: dict[int, Any] = {}
    problems: dict[int, list[Problem]] = {}
    for task in tasks:
        try:
            answers[task.pk] = kind.check(task, config, fields)
        except AnswerRefused as error:
            problems[task.pk] = error.problems
        except AnswerMissing as error:
            problems[task.pk] = [Problem("missing", str(error))]
    missing = first_questions.problems_of(campaign, form.frame.worker_id, fields)
    if missing and tasks and not visitor_of(campaign, form.frame).has_written:
        problems.setdefault(tasks[0].pk, []).extend(missing)
    if problems:
        raise AnswersRefused(problems)
    return answers
