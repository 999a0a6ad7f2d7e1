"""Open task pages, and store the answers sent from them.

The marketplace does not confirm requests to task pages. This module therefore never creates a
worker, a response or a barring; `hits.services.submissions` does, from the marketplace's reports.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext, gettext_lazy

from annotate.errors import DomainError
from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.language.text import Problem
from annotate.models import Campaign, Claim, Response, Task, Worker
from annotate.services.claims import (
    NothingToDo,
    Seen,
    claim_again,
    claim_tasks,
    give_back_places,
    take_places_again,
)
from hits.models import Assignment, Hit, TaskPage, WorkerAccount
from hits.services.closed_pages import PAGES_PER_SLOT, close_pages, close_surplus
from qualcontrol.models import kept_out, waiting_for_verdicts
from shared.prepared import Change, insert, prepared, prepared_update

# Forms are accepted a little longer than the assignment lasts, for an answer in the last second.
GRACE = timedelta(minutes=5)
# Maximum number of tasks on a worker's other pages that a new page does not show again.
MOST_SEEN = 300
SUBMITTED = gettext_lazy("You have submitted this task already. Thank you!")


class UnknownHit(DomainError):
    """The campaign has no open HIT with this id."""


class AlreadySubmitted(DomainError):
    """The assignment was submitted already."""


class WaitsForVerdicts(DomainError):
    """The worker gets no new tasks until the worker's first responses are judged."""


class AnswersRefused(DomainError):
    """At least one answer breaks a rule; `problems` maps a task's primary key to its problems."""

    def __init__(self, problems: Mapping[int, list[Problem]]) -> None:
        super().__init__(gettext("Please correct what is marked."))
        self.problems = problems


@dataclass(frozen=True)
class FrameParameters:
    """The four parameters that the marketplace passes to a task page."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str  # an origin of the endpoint's allow-list


@dataclass(frozen=True)
class TaskForm:
    """A form that was shown: its frame's parameters, its time, and the numbers of its tasks.

    Answers find their tasks by these numbers, even if the page's row was deleted. `primed` has the
    numbers of tasks whose keywords the form shows, where claims decide this.
    """

    frame: FrameParameters
    opened_at: datetime
    numbers: tuple[int, ...]
    primed: tuple[int, ...] = ()


@dataclass(frozen=True)
class OpenPage:
    """The form and the tasks of a task page, and the answer that was sent from it, if any."""

    form: TaskForm
    tasks: Sequence[Task]
    fields: Mapping[str, str]
    is_first: bool  # the worker has not submitted anything yet


class _Returned(Exception):
    """Some pages of the HIT must give back their places before the page opens."""

    def __init__(self, pages: Sequence[int]) -> None:
        super().__init__()
        self.pages = pages


def open_page(*, campaign: Campaign, frame: FrameParameters, at: datetime) -> OpenPage:
    """Open the page of a worker's assignment and return it. A page that is open keeps its tasks.

    Raises UnknownHit, AlreadySubmitted, NothingToDo, or WaitsForVerdicts.
    """
    try:
        return _open(campaign, frame, at, gives_back=True)
    except _Returned as found:
        # In a transaction of its own, because a transaction that waits for tasks must not have
        # locked other tasks already.
        give_back_places(pages=found.pages)
    return _open(campaign, frame, at, gives_back=False)


def shown_again(*, campaign: Campaign, form: TaskForm) -> OpenPage:
    """The page for a form that the worker has to correct."""
    visitor = _visitor(campaign, form.frame)
    # Answers whose submission is not ingested yet. Forged ones only fold the instructions.
    answered = TaskPage.objects.of(campaign).answered().filter(marketplace_id=form.frame.worker_id)
    is_first = visitor.is_first and not answered.exists()
    return OpenPage(form, _tasks(campaign, form), {}, is_first)


@dataclass(frozen=True)
class _Visitor:
    """The worker whose id a page's address has; `worker` is None if the marketplace never reported
    a submission by them."""

    worker: Worker | None = None
    is_first: bool = True  # the worker has not submitted anything yet
    has_submitted: bool = False  # this page's assignment
    is_kept_out: bool = False
    waits: bool = False  # for verdicts

    def refuse_new_task(self) -> None:
        """Raises WaitsForVerdicts or NothingToDo if the worker may not get a task now."""
        if self.waits:
            raise WaitsForVerdicts(
                gettext("Your first answers are being checked. You can continue later.")
            )
        if self.is_kept_out:
            raise NothingToDo(gettext("There is nothing left in this campaign for you."))


def _visitor(campaign: Campaign, frame: FrameParameters) -> _Visitor:
    """Read everything about the page's worker in one query."""
    visitors = _visitors(
        campaign,
        campaign.config.review.trial,
        hit_id=frame.hit_id,
        assignment_id=frame.assignment_id,
        marketplace_id=frame.worker_id,
    )
    found = next(iter(visitors), None)
    if found is None:
        return _Visitor()
    return _Visitor(
        Worker(pk=found["worker"]),
        is_first=not found["has_responses"],
        has_submitted=found["has_submitted"],
        is_kept_out=found["is_kept_out"],
        waits=found["waits"],
    )


@prepared
def _visitors(
    campaign: Campaign, _trial: int, *, hit_id: Any, assignment_id: Any, marketplace_id: Any
) -> QuerySet[WorkerAccount, dict[str, Any]]:
    """The query of `_visitor`, which depends on the length of the campaign's trial."""
    worker = {"pk": OuterRef("worker")}
    submitted = Assignment.objects.filter(
        hit__hit_id=hit_id, assignment_id=assignment_id, account=OuterRef("pk")
    )
    accounts = WorkerAccount.objects.filter(
        endpoint=campaign.endpoint, marketplace_id=marketplace_id
    ).annotate(
        has_responses=Exists(Response.objects.filter(worker=OuterRef("worker"))),
        has_submitted=Exists(submitted),
        is_kept_out=Exists(kept_out(campaign).filter(**worker)),
        waits=Exists(waiting_for_verdicts(campaign).filter(**worker)),
    )
    return accounts.values("worker", "has_responses", "has_submitted", "is_kept_out", "waits")


def _open(
    campaign: Campaign, frame: FrameParameters, at: datetime, *, gives_back: bool
) -> OpenPage:
    """One transaction, which raises _Returned with `gives_back` and then changes nothing."""
    with transaction.atomic():
        pages = _lock_pages(campaign, frame)
        # Read after the lock: an ingest that closed the page has stored its assignment.
        visitor = _visitor(campaign, frame)
        if visitor.has_submitted:
            raise AlreadySubmitted(SUBMITTED)
        if gives_back and (returned := pages.returned(is_at_work=True)):
            raise _Returned(returned)
        page = pages.own
        tasks = _still_open(page, visitor.worker) if page else []
        if page is None or not tasks:
            visitor.refuse_new_task()
            page = _new_page(pages.hit, frame, opened_at=at, at=at)
            tasks = claim_tasks(
                campaign=campaign,
                worker=visitor.worker,
                page=page.pk,
                count=campaign.config.hit.images,
                seen=Seen(
                    _seen,
                    {
                        "of_campaign": campaign.pk,
                        "marketplace_id": frame.worker_id,
                        "hit_id": frame.hit_id,
                    },
                ),
            )
    if page is not pages.own and pages.are_too_many:
        close_surplus(pages.hit, keep=page)
    form = TaskForm(
        frame,
        page.opened_at,
        tuple(task.number for task in tasks),
        primed=tuple(task.number for task in tasks if task.primed),
    )
    is_first = visitor.is_first and not pages.has_answered
    return OpenPage(form, tasks, page.fields, is_first)


def _still_open(page: TaskPage, worker: Worker | None) -> list[Task]:
    """The page's tasks, without those that the worker has submitted in another assignment since.

    If none is left, closes the page.
    """
    shown = Task.objects.on_page(page)
    if not worker:
        return list(shown)
    answered = set(worker.responses.filter(task__in=shown).values_list("task_id", flat=True))
    tasks = [task for task in shown if task.pk not in answered]
    if not tasks:
        close_pages([page.pk])
    return tasks


def _seen(*, of_campaign: Any, marketplace_id: Any, hit_id: Any) -> QuerySet[Claim, int]:
    """Primary keys of the latest tasks on other pages of a campaign with the worker's id.

    Pages of this HIT count only while they take places; otherwise the worker has returned them.
    Pages of other HITs always count. A forged page can make them give back their places, and the
    worker would then do a task twice and be paid once.
    """
    pages = TaskPage.objects.of(of_campaign).filter(marketplace_id=marketplace_id)
    elsewhere = ~Q(page__hit__hit_id=hit_id)
    claims = Claim.objects.filter(elsewhere | Q(takes_place=True), page__in=pages)
    return claims.order_by("-pk").values_list("task_id", flat=True)[:MOST_SEEN]


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
        answers = _check(campaign, tasks, fields)
    except AnswersRefused:
        # After a submission, there is nothing to correct.
        _refuse_submitted(campaign, form.frame)
        raise
    kind, passed_on = KINDS[campaign.kind], dict[str, str]()
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
        pages = _lock_pages(campaign, form.frame)
        _refuse_submitted(campaign, form.frame)
        made = _keep(pages, form, tasks, values, at)
    if made and pages.are_too_many:
        close_surplus(pages.hit, keep=made)
    if returned := pages.returned(is_at_work=False):
        give_back_places(pages=returned)
    return passed_on


def _keep(
    pages: "_Pages", form: TaskForm, tasks: Sequence[Task], values: Mapping[str, Any], at: datetime
) -> TaskPage | None:
    """Store these values with the form's page; return the page if it had to be created again."""
    if own := pages.own:
        # Lock the tasks before the page, as `close_pages` does; otherwise the two could deadlock.
        if own.gave_place_back:
            take_places_again(page=own.pk)
        if _store_answer(page=own.pk, **values):
            return None
    # The page may have been closed because a sync has just ingested its assignment.
    _refuse_submitted(pages.hit.campaign, form.frame)
    page = _new_page(pages.hit, form.frame, opened_at=form.opened_at, at=at, **values)
    claim_again(page=page.pk, tasks=tasks)
    return page


@prepared_update
def _store_answer(page: Any, **columns: Any) -> Change:
    return TaskPage.objects.filter(pk=page), columns


@dataclass(frozen=True)
class _Pages:
    """A locked HIT and its pages as they were after the lock, the oldest first."""

    hit: Hit
    frame: FrameParameters
    rows: Sequence[TaskPage]
    has_answered: bool  # a page with the worker's id, of any HIT

    @property
    def own(self) -> TaskPage | None:
        """The page of this frame."""
        return next((page for page in self.rows if self._is_own(page)), None)

    @property
    def are_too_many(self) -> bool:
        """Whether a further page exceeds PAGES_PER_SLOT for each slot."""
        return len(self.rows) >= PAGES_PER_SLOT * self.hit.slots

    def returned(self, *, is_at_work: bool) -> list[int]:
        """Primary keys of pages that take places although their assignments must have been
        returned.

        `is_at_work` says whether the worker of this frame has one of the HIT's slots and has not
        answered yet. Otherwise the worker has just answered.

        A HIT cannot have more workers at work than slots without an answer. If it has more pages,
        other pages of this worker and of this assignment have certainly been returned. Of the rest,
        the oldest are assumed to be returned. A wrong guess, or a forged page, only changes which
        tasks other workers see.
        """
        others = [page for page in self.rows if not self._is_own(page)]
        waiting = [page for page in others if page.takes_place and page.answered_at is None]
        returned = [page.pk for page in waiting if self._is_followed(page)]
        left = [page.pk for page in waiting if not self._is_followed(page)]
        answered = sum(page.answered_at is not None for page in others)
        own_answered = self.own is not None and self.own.answered_at is not None
        answered += own_answered or not is_at_work
        at_work = self.hit.slots - self.hit.ingested - answered - is_at_work
        return returned + left[: max(0, len(left) - max(0, at_work))]

    def _is_own(self, page: TaskPage) -> bool:
        return (page.assignment_id, page.marketplace_id) == (
            self.frame.assignment_id,
            self.frame.worker_id,
        )

    def _is_followed(self, page: TaskPage) -> bool:
        """Whether the frame's worker, or assignment, had this other page of the HIT before."""
        return (
            page.assignment_id == self.frame.assignment_id
            or page.marketplace_id == self.frame.worker_id
        )


def _lock_pages(campaign: Campaign, frame: FrameParameters) -> _Pages:
    """Lock the HIT, so that only one request at a time opens or changes its pages; return them.

    The second request of a double click waits for the first and then finds its page. To avoid
    deadlocks, lock the HIT before any task. Raises UnknownHit.
    """
    hits = _locked_hits(campaign=campaign.pk, hit_id=frame.hit_id, marketplace_id=frame.worker_id)
    if not hits:
        raise UnknownHit(
            gettext("This task is not ready yet, or it is closed. Reload in a minute.")
        )
    [hit] = hits
    hit.campaign = campaign
    return _Pages(hit, frame, _pages_of(hit=hit.pk), has_answered=hit.has_answered)


@prepared
def _locked_hits(campaign: Any, hit_id: Any, marketplace_id: Any) -> QuerySet[Hit]:
    alive = Hit.objects.alive().filter(campaign=campaign, hit_id=hit_id)
    return alive.with_answered(marketplace_id).select_for_update(no_key=True)


@prepared
def _pages_of(hit: Any) -> QuerySet[TaskPage]:
    pages = TaskPage.objects.filter(hit=hit).with_places().order_by("opened_at", "pk")
    return pages.defer("counts", "primed", "device")  # of the answers, which nobody reads here


def _refuse_submitted(campaign: Campaign, frame: FrameParameters) -> None:
    if _submitted(
        campaign=campaign.pk,
        hit_id=frame.hit_id,
        assignment_id=frame.assignment_id,
        marketplace_id=frame.worker_id,
    ):
        raise AlreadySubmitted(SUBMITTED)


@prepared
def _submitted(
    campaign: Any, hit_id: Any, assignment_id: Any, marketplace_id: Any
) -> QuerySet[Assignment, Any]:
    submitted = Assignment.objects.filter(
        hit__campaign=campaign,
        hit__hit_id=hit_id,
        assignment_id=assignment_id,
        account__marketplace_id=marketplace_id,
    )
    return submitted.values_list("pk")[:1]


def _new_page(
    hit: Hit, frame: FrameParameters, *, opened_at: datetime, at: datetime, **values: Any
) -> TaskPage:
    minutes = hit.campaign.config.hit.minutes
    page = TaskPage(
        hit=hit,
        assignment_id=frame.assignment_id,
        marketplace_id=frame.worker_id,
        opened_at=opened_at,
        expires_at=at + timedelta(minutes=minutes),
        **values,
    )
    insert(page)
    return page


def _tasks(campaign: Campaign, form: TaskForm) -> list[Task]:
    """The form's tasks, in the order of the form, with what it shows."""
    numbers = {f"number{place}": number for place, number in enumerate(form.numbers)}
    tasks = _tasks_by_number(campaign=campaign.pk, **numbers)
    for task in tasks:
        task.campaign = campaign
        task.primed = task.number in form.primed if task.shows_keywords is None else None
    return sorted(tasks, key=lambda task: form.numbers.index(task.number))


@prepared
def _tasks_by_number(campaign: Any, **numbers: Any) -> QuerySet[Task]:
    return Task.objects.filter(campaign=campaign, number__in=[*numbers.values()]).with_material()


def _check(campaign: Campaign, tasks: Sequence[Task], fields: Mapping[str, str]) -> dict[int, Any]:
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
    if problems:
        raise AnswersRefused(problems)
    return answers
