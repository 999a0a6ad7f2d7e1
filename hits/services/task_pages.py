"""Open task pages, store the answers sent from them, and close them.

The marketplace does not confirm requests to task pages. This module therefore never creates a
worker, a response or a barring; `hits.services.submissions` does, from the marketplace's reports.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotate.errors import DomainError
from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.language.text import Problem
from annotate.models import Campaign, Claim, Task, Worker
from annotate.services.claims import (
    NothingToDo,
    claim_again,
    claim_tasks,
    give_back_places,
    release_claims,
    take_places_again,
)
from hits.models import Assignment, Hit, TaskPage, WorkerAccount
from qualcontrol.models import kept_out, waiting_for_verdicts

# Forms are accepted a little longer than the assignment lasts, for an answer in the last second.
GRACE = timedelta(minutes=5)
# Several workers may open a page for one slot, each after the previous one returned it. Further
# pages, for example from forged requests, replace the oldest ones, whose forms still work.
PAGES_PER_SLOT = 4
# Maximum number of tasks on a worker's other pages that a new page does not show again.
MOST_SEEN = 300
# A sync closes pages after it has ingested their submissions. If a campaign is not synced, its
# pages are deleted this long after they expire.
KEPT_AFTER_EXPIRY = timedelta(days=7)
# Number of pages closed in one transaction. Small, so that workers do not wait long for the tasks.
CLOSED_AT_ONCE = 100


class UnknownHit(DomainError):
    """The campaign has no open HIT with this id."""


class AlreadySubmitted(DomainError):
    """The assignment was submitted already."""


class WaitsForVerdicts(DomainError):
    """The worker gets no new tasks until the worker's first responses are judged."""


class AnswersRefused(DomainError):
    """At least one answer breaks a rule; `problems` maps a task's primary key to its problems."""

    def __init__(self, problems: Mapping[int, list[Problem]]) -> None:
        super().__init__("Please correct what is marked.")
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


def open_page(*, campaign: Campaign, frame: FrameParameters, at: datetime) -> OpenPage:
    """Open the page of a worker's assignment and return it. A page that is open keeps its tasks.

    Raises UnknownHit, AlreadySubmitted, NothingToDo, or WaitsForVerdicts.
    """
    hit = _hit(campaign, frame)
    worker = _worker(campaign, frame)
    _refuse_submitted(hit, frame)
    _give_back_returned(hit, frame, is_at_work=True)
    page, tasks = _open(campaign, hit, frame, worker, at)
    _close_surplus(hit, keep=page)
    form = TaskForm(
        frame,
        page.opened_at,
        tuple(task.number for task in tasks),
        primed=tuple(task.number for task in tasks if task.primed),
    )
    return OpenPage(form, tasks, page.fields, _is_first(campaign, worker, frame))


def shown_again(*, campaign: Campaign, form: TaskForm) -> OpenPage:
    """The page for a form that the worker has to correct."""
    worker = _worker(campaign, form.frame)
    is_first = _is_first(campaign, worker, form.frame)
    return OpenPage(form, _tasks(campaign, form), {}, is_first)


def _is_first(campaign: Campaign, worker: Worker | None, frame: FrameParameters) -> bool:
    """Whether the worker has submitted nothing yet, as far as the page can tell."""
    if worker is not None and worker.responses.exists():
        return False
    # Answered pages whose submission is not ingested yet; forged ones only fold the instructions.
    pages = TaskPage.objects.of(campaign).filter(marketplace_id=frame.worker_id)
    return not pages.filter(answered_at__isnull=False).exists()


@transaction.atomic
def _open(
    campaign: Campaign, hit: Hit, frame: FrameParameters, worker: Worker | None, at: datetime
) -> tuple[TaskPage, list[Task]]:
    _lock(hit)
    page = _pages_of(hit, frame).first()
    if page is not None:
        shown = Task.objects.on_page(page)
        if not worker:
            return page, list(shown)
        # Leave out tasks that the worker has submitted in another assignment since.
        answered = set(worker.responses.filter(task__in=shown).values_list("task_id", flat=True))
        if tasks := [task for task in shown if task.pk not in answered]:
            return page, tasks
        close_pages([page.pk])
    if worker:
        _refuse_kept_out(campaign, worker)
    page = _new_page(hit, frame, opened_at=at, at=at)
    tasks = claim_tasks(
        campaign=campaign,
        worker=worker,
        page=page.pk,
        count=campaign.config.hit.images,
        seen=_seen(campaign, frame),
    )
    return page, tasks


def _refuse_kept_out(campaign: Campaign, worker: Worker) -> None:
    if waiting_for_verdicts(campaign).filter(pk=worker.pk).exists():
        raise WaitsForVerdicts("Your first answers are being checked. You can continue later.")
    if kept_out(campaign).filter(pk=worker.pk).exists():
        raise NothingToDo("There is nothing left in this campaign for you.")


def _seen(campaign: Campaign, frame: FrameParameters) -> list[int]:
    """Primary keys of the latest tasks on other pages with the worker's id.

    Pages of this HIT count only while they take places; otherwise the worker has returned them.
    Pages of other HITs always count. A forged page can make them give back their places, and the
    worker would then do a task twice and be paid once.
    """
    pages = TaskPage.objects.of(campaign).filter(marketplace_id=frame.worker_id)
    elsewhere = ~Q(page__hit__hit_id=frame.hit_id)
    claims = Claim.objects.filter(elsewhere | Q(takes_place=True), page__in=pages)
    return list(claims.order_by("-pk").values_list("task_id", flat=True)[:MOST_SEEN])


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
    hit = _hit(campaign, form.frame)
    _refuse_submitted(hit, form.frame)
    tasks = _tasks(campaign, form)
    answers, kind = _check(campaign, tasks, fields), KINDS[campaign.kind]
    passed_on: dict[str, str] = {}
    for task in tasks:
        passed_on |= kind.fields_of(task, answers[task.pk])
    values = {
        "answered_at": at,
        "fields": passed_on,
        "counts": {str(task.number): counts.get(task.number, {}) for task in tasks},
        "primed": form.primed,
        "device": device,
    }
    _keep(hit, form, tasks, values, at)
    _give_back_returned(hit, form.frame, is_at_work=False)
    return passed_on


def _keep(
    hit: Hit, form: TaskForm, tasks: Sequence[Task], values: Mapping[str, Any], at: datetime
) -> None:
    with transaction.atomic():
        _lock(hit)
        kept = _pages_of(hit, form.frame)
        # Lock the tasks before the page, as `close_pages` does; otherwise the two could deadlock.
        for page in kept:
            take_places_again(page=page.pk)
        if kept.update(**values):
            return
        # The page may have been closed because a sync has just ingested its assignment.
        _refuse_submitted(hit, form.frame)
        page = _new_page(hit, form.frame, opened_at=form.opened_at, at=at, **values)
        claim_again(page=page.pk, tasks=tasks)
    _close_surplus(hit, keep=page)


def close_pages(keys: Iterable[int]) -> None:
    """Delete the pages with these primary keys, with the answers sent from them, and free their
    places. Each transaction deletes CLOSED_AT_ONCE pages."""
    keys = sorted(keys)
    for start in range(0, len(keys), CLOSED_AT_ONCE):
        lot = keys[start : start + CLOSED_AT_ONCE]
        with transaction.atomic():
            release_claims(pages=lot)
            TaskPage.objects.filter(pk__in=lot).delete()


def delete_expired_pages(*, at: datetime) -> int:
    """Delete pages that expired more than KEPT_AFTER_EXPIRY ago; return their number.

    Syncs close pages earlier. These belong to campaigns that are no longer synced.
    """
    keys = list(TaskPage.objects.lapsed(at - KEPT_AFTER_EXPIRY).values_list("pk", flat=True))
    close_pages(keys)
    return len(keys)


def close_returned(*, hit: Hit, at_work: int, before: datetime) -> None:
    """Close pages of a HIT until `at_work` of those opened before this time are left.

    `at_work` is the number of workers who had an assignment then. The other workers have returned
    theirs, or never had one.
    """
    opened = hit.pages.filter(opened_at__lt=before)
    _close_oldest(opened, opened.count() - at_work)


def _give_back_returned(hit: Hit, frame: FrameParameters, *, is_at_work: bool) -> None:
    """Free the places of the HIT's pages whose assignments must have been returned.

    `is_at_work` says whether the worker of this frame has one of the HIT's slots and has not
    answered yet.

    A HIT cannot have more workers at work than slots without an answer. If it has more pages, other
    pages of this worker and of this assignment have certainly been returned. Of the rest, the
    oldest are assumed to be returned. A wrong guess, or a forged page, only changes which tasks
    other workers see.
    """
    others = hit.pages.exclude(assignment_id=frame.assignment_id, marketplace_id=frame.worker_id)
    waiting = others.filter(answered_at=None, claims__takes_place=True).distinct()
    is_followed = Q(assignment_id=frame.assignment_id) | Q(marketplace_id=frame.worker_id)
    returned = list(waiting.filter(is_followed).values_list("pk", flat=True))
    left = list(waiting.exclude(is_followed).order_by("opened_at", "pk"))
    at_work = hit.slots - hit.ingested - hit.pages.answered().count() - is_at_work
    returned += [page.pk for page in left[: max(0, len(left) - max(0, at_work))]]
    if returned:
        give_back_places(pages=returned)


def _close_surplus(hit: Hit, *, keep: TaskPage) -> None:
    """Close the pages of a HIT beyond PAGES_PER_SLOT for each slot.

    Runs in its own transaction, because a transaction that waits for tasks must not have locked
    other tasks already.
    """
    surplus = hit.pages.count() - PAGES_PER_SLOT * hit.slots
    _close_oldest(hit.pages.exclude(pk=keep.pk), surplus)


def _close_oldest(pages: QuerySet[TaskPage], number: int) -> None:
    """Close this number of pages: the oldest without an answer first, then the oldest others."""
    if number > 0:
        oldest = pages.order_by(F("answered_at").asc(nulls_first=True), "opened_at", "pk")
        close_pages(oldest.values_list("pk", flat=True)[:number])


def _hit(campaign: Campaign, frame: FrameParameters) -> Hit:
    hit = campaign.hits.alive().filter(hit_id=frame.hit_id).first()
    if hit is None:
        raise UnknownHit("This HIT is not ready yet, or it is closed. Reload in a minute.")
    return hit


def _worker(campaign: Campaign, frame: FrameParameters) -> Worker | None:
    """The worker with this id; None if the marketplace never reported a submission by them."""
    account = WorkerAccount.objects.known(
        endpoint=campaign.endpoint, marketplace_id=frame.worker_id
    )
    return account.worker if account else None


def _refuse_submitted(hit: Hit, frame: FrameParameters) -> None:
    if Assignment.objects.filter(
        hit=hit,
        assignment_id=frame.assignment_id,
        account__marketplace_id=frame.worker_id,
    ).exists():
        raise AlreadySubmitted("You have submitted this HIT already. Thank you!")


def _lock(hit: Hit) -> None:
    """Lock the HIT, so that only one request at a time opens or changes its pages.

    The second request of a double click waits for the first and then finds its page. To avoid
    deadlocks, lock the HIT before any task.
    """
    Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)


def _pages_of(hit: Hit, frame: FrameParameters) -> QuerySet[TaskPage]:
    return hit.pages.filter(assignment_id=frame.assignment_id, marketplace_id=frame.worker_id)


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
    """The form's tasks, in the order of the form, with what it shows."""
    tasks = list(campaign.tasks.filter(number__in=form.numbers).with_subject())
    for task in tasks:
        task.primed = task.number in form.primed if task.shows_keywords is None else None
    return sorted(tasks, key=lambda task: form.numbers.index(task.number))


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
