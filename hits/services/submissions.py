"""Create workers, assignments and responses from the submissions that the marketplace reports.

Task pages create no responses themselves. The marketplace's fields are used first. The fields that
the page sent to the requester site fill gaps; its times and counts describe how the answer was
written.

A worker can submit anything to the marketplace without opening the page. Answers that fit no task,
and answers that the page would have refused, are not paid until a person decides (`HeldPayment`).
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from defusedxml import DefusedXmlException
from django.db import transaction
from django.db.models import Prefetch, Q, prefetch_related_objects

from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.kinds.practice import FIELD as PRACTICE
from annotate.kinds.practice import is_passed, read_marks
from annotate.models import Campaign, Response, Submission, Task, Worker
from annotate.services.responses import Answered, Submitted, add_all_submitted
from hits.models import Assignment, Claim, Hit, TaskPage, WorkerAccount
from hits.mturk.hit_texts import UnreadableAnswer, parse_answer
from hits.mturk.replies import ListedAssignment
from hits.services.accounts import ERASED, ErasedMeanwhile, locked_accounts
from hits.services.hit_pages import close_pages
from qualcontrol.models import HeldCause
from qualcontrol.services.errors import AlreadyExcluded
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.held_payments import drop_problem, hold_payment
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.locks import lock_workers, lock_workers_of_rounds
from qualcontrol.services.sampling import lock_check_share

log = logging.getLogger(__name__)

# At most this many of the tasks that an answer's fields name are looked up.
MOST_NAMED = 50
NO_PRACTICE = "The practice is missing."
IN_PART = "Answers to other images of the page are missing."
# Stored length of an answer that fits no task; the rest is cut off.
MOST_KEPT = 20_000


class Reported(NamedTuple):
    """A submitted assignment of a HIT, as the marketplace lists it."""

    hit: Hit
    listed: ListedAssignment


def of_erased(reported: Sequence[Reported]) -> dict[Reported, int]:
    """The reported assignments of people whose data was erased on request, with their keys. The
    marketplace still lists them with the ids, from which new workers would be created."""
    if not reported:
        return {}
    stored = Assignment.objects.filter(
        hit__in={row.hit.pk for row in reported},
        assignment_id__in=[row.listed.assignment_id for row in reported],
        account__marketplace_id__startswith=ERASED,
    )
    keys = {
        (hit, assignment_id): pk
        for pk, hit, assignment_id in stored.values_list("pk", "hit__pk", "assignment_id")
    }
    pairs = [(row, keys.get((row.hit.pk, row.listed.assignment_id))) for row in reported]
    return {row: key for row, key in pairs if key is not None}


@transaction.atomic(savepoint=False)
def take_submissions(
    *, campaign: Campaign, reported: Sequence[Reported], at: datetime
) -> list[tuple[Assignment, bool]]:
    """The rows of submitted assignments of the campaign's HITs, and whether each is new.

    For new assignments, create their responses, let quality control review them, close their pages,
    and hold the payments if needed. The number of statements does not grow with the number of
    assignments. Raises ErasedMeanwhile.
    """
    # The workers are locked before the tasks, in the same order as an exclusion does.
    workers = {row.listed.worker_id for row in reported}
    # Workers who fail a practice are excluded, which also discards responses that build on theirs.
    has_practice = bool(campaign.config.practice.captions)
    accounts = locked_accounts(
        endpoint=campaign.endpoint,
        marketplace_ids=workers,
        lock=lock_workers_of_rounds if has_practice else lock_workers,
    )
    rows = _rows(reported, accounts)
    new = {
        row: entry.listed.answer
        for (row, is_new), entry in zip(rows, reported, strict=True)
        if is_new
    }
    if new:
        _store_new(campaign, new, at)
    return rows


def _rows(
    reported: Sequence[Reported], accounts: Mapping[str, WorkerAccount]
) -> list[tuple[Assignment, bool]]:
    """The assignments' rows, and whether each was created now. The workers are locked. Raises
    ErasedMeanwhile."""
    same_ids = Assignment.objects.filter(
        assignment_id__in=[entry.listed.assignment_id for entry in reported]
    )
    assignments = {
        (row.assignment_id, row.account_id): row for row in same_ids.select_related("account")
    }
    erased = {
        (row.hit_id, row.assignment_id)
        for row in assignments.values()
        if row.account.marketplace_id.startswith(ERASED)
    }
    if any((entry.hit.pk, entry.listed.assignment_id) in erased for entry in reported):
        # After `of_erased`, so that a worker was created anew for the deleted id.
        raise ErasedMeanwhile("A worker's data was just erased. The next sync goes on.")
    rows, created = [], []
    for hit, listed in reported:
        account = accounts[listed.worker_id]
        key = listed.assignment_id, account.pk
        is_new = key not in assignments
        if is_new:
            assignments[key] = Assignment(
                assignment_id=listed.assignment_id,
                account=account,
                hit=hit,
                accepted_at=listed.accepted_at,
                submitted_at=listed.submitted_at,
            )
            created.append(assignments[key])
        rows.append((assignments[key], is_new))
    submissions = Submission.objects.bulk_create(Submission() for _ in created)
    for row, submission in zip(created, submissions, strict=True):
        row.submission = submission
    Assignment.objects.bulk_create(created)
    return rows


def _store_new(campaign: Campaign, new: Mapping[Assignment, str], at: datetime) -> None:
    """Create the responses of new assignments, each with the XML of its answer."""
    lock_check_share(campaign)
    pages = _pages_of(new)
    answers = _answers(campaign, new, pages)
    _note_practice(campaign, answers)
    claimed = set(chain.from_iterable(answer.claimed for answer in answers))
    claimed |= _tasks_of_practised(campaign, answers)
    added = add_all_submitted(
        submitted=[
            Submitted(answer.row.account.worker, answer.answers, answer.row.pk)
            for answer in answers
        ],
        at=at,
        tasks=claimed,
    )
    # Other workers with a page of these assignments have returned them, or never had them. A page
    # that was opened meanwhile stays until its time is over: its tasks were not locked in order.
    close_pages(page.pk for page in pages)
    problems: dict[int, list[str]] = {}
    for answer, responses in zip(answers, added, strict=True):
        problems |= answer.problems_of(responses)
    review_submitted(
        campaign=campaign, responses=[*chain.from_iterable(added)], at=at, problems=problems
    )
    for answer, responses in zip(answers, added, strict=True):
        row = answer.row
        if row.practice and not is_passed(campaign.config, row.practice):
            _exclude_failed(campaign, row.account.worker, row.practice, at)
        elif row.practice:
            _accept_later_work(campaign, row)
        if not responses and not row.practice:
            # The answer fits no task, so its text is stored with the assignment.
            Assignment.objects.filter(pk=row.pk).update(unplaced_answer=answer.xml[:MOST_KEPT])
        cause, why = answer.why_held(responses, problems)
        if cause:
            hold_payment(
                campaign=campaign,
                worker=row.account.worker,
                submission=row.pk,
                cause=cause,
                why=why,
                at=at,
            )


def _note_practice(campaign: Campaign, answers: Sequence["_Answer"]) -> None:
    """Store the marks of workers' first practice, and mark the answers of workers who had none.

    The work after a practice may be read before it: a listing has the newest HIT first.
    """
    if not campaign.config.practice.captions:
        return
    accounts = {answer.row.account_id for answer in answers}
    earlier = Assignment.objects.of(campaign).filter(account__in=accounts)
    earlier = earlier.exclude(pk__in=[answer.row.pk for answer in answers])
    rows = list(earlier.values_list("account_id", "practice"))
    with_earlier = {account for account, _ in rows}
    practised = {account for account, marks in rows if marks}
    for answer in sorted(answers, key=lambda answer: answer.row.submitted_at):
        account = answer.row.account_id
        answer.is_first = account not in with_earlier
        with_earlier.add(account)
        if account not in practised:
            answer.row.practice = answer.marks()
        if answer.row.practice:
            practised.add(account)
    with_marks = [answer.row for answer in answers if answer.row.practice]
    Assignment.objects.bulk_update(with_marks, ["practice"])


def _tasks_of_practised(campaign: Campaign, answers: Sequence["_Answer"]) -> set[int]:
    """The tasks with earlier read work of those whose practice this is, because it changes that
    work: workers who failed are excluded, and for those who passed no practice is missing."""
    workers = {answer.row.account.worker_id for answer in answers if answer.row.practice}
    if not workers:
        return set()
    work = Response.objects.of(campaign).filter(worker__in=workers)
    return set(work.values_list("task_id", flat=True))


def _accept_later_work(campaign: Campaign, practice: Assignment) -> None:
    """Take back that the worker's later work, which was read before, lacks the practice."""
    later = Assignment.objects.of(campaign).filter(
        account=practice.account_id, submitted_at__gt=practice.submitted_at
    )
    if later.exists():
        worker, keys = practice.account.worker, later.values("pk")
        drop_problem(campaign=campaign, worker=worker, submissions=keys, problem=NO_PRACTICE)


def _exclude_failed(campaign: Campaign, worker: Worker, marks: str, at: datetime) -> None:
    """Exclude a worker who did not pass. The caller has locked the worker."""
    reason = f"did not pass the practice: {marks.count('1')} of {len(marks)} right"
    with suppress(AlreadyExcluded):
        exclude_worker(campaign=campaign, worker=worker, reason=reason, actor=None, at=at)


def _pages_of(new: Collection[Assignment]) -> list[TaskPage]:
    """The pages that any worker opened under these assignments in their HITs."""
    pages = TaskPage.objects.filter(
        hit__in={row.hit_id for row in new},
        assignment_id__in=[row.assignment_id for row in new],
    )
    theirs = {(row.hit_id, row.assignment_id) for row in new}
    # A forged page may name an assignment of another HIT.
    return [page for page in pages if (page.hit_id, page.assignment_id) in theirs]


def _answers(
    campaign: Campaign, new: Mapping[Assignment, str], pages: Sequence[TaskPage]
) -> list["_Answer"]:
    """The answers of new assignments, with the pages and tasks that they may belong to."""
    by_assignment: defaultdict[tuple[int, str], dict[str, TaskPage]] = defaultdict(dict)
    for opened in pages:
        by_assignment[opened.hit_id, opened.assignment_id][opened.marketplace_id] = opened
    prefetch_related_objects(pages, Prefetch("claims", Claim.objects.order_by("pk")))
    answers = []
    for row, xml in new.items():
        of_assignment = by_assignment[row.hit_id, row.assignment_id]
        page = of_assignment.get(row.account.marketplace_id)
        claimed = {claim.task_id for page in of_assignment.values() for claim in page.claims.all()}
        fields = _fields(row, xml)
        answers.append(_Answer(campaign, row, xml, fields, page, frozenset(claimed)))
    shown = set(chain.from_iterable(answer.shown for answer in answers))
    named = set(chain.from_iterable(answer.named for answer in answers))
    tasks = campaign.tasks.filter(Q(pk__in=shown) | Q(number__in=named))
    candidates = list(tasks.with_subject().order_by("pk"))
    for answer in answers:
        answer.candidates.extend(candidates)
    return answers


def _fields(assignment: Assignment, xml: str) -> dict[str, str]:
    try:
        return parse_answer(xml)
    except (UnreadableAnswer, DefusedXmlException):
        log.warning("The answer of %s is unreadable and is stored unchanged.", assignment)
        return {}


@dataclass
class _Answer:
    """The answer of a new assignment, as the marketplace reports it, and the page it was written
    on."""

    campaign: Campaign
    row: Assignment
    xml: str
    fields: Mapping[str, str]
    page: TaskPage | None
    claimed: frozenset[int]  # tasks that all pages of the assignment claim
    candidates: list[Task] = field(default_factory=list)  # tasks, among others those it names
    is_first: bool = False  # of the worker's, in a campaign with a practice

    def marks(self) -> str:
        """The marks of the practice that comes before a worker's first task, if it is with this
        answer. Whether the answer `is_first` must be known."""
        signed = self.fields.get(PRACTICE, "")
        if not signed and self.page and self.is_first:  # a stranger may have forged a later page
            signed = self.page.fields.get(PRACTICE, "")
        return read_marks(self.campaign, self.row.account.marketplace_id, signed)

    @cached_property
    def shown(self) -> dict[int, bool | None]:
        """For each task that the page claims, whether it showed the keywords."""
        if self.page is None:
            return {}
        return {claim.task_id: claim.primed for claim in self.page.claims.all()}

    @cached_property
    def named(self) -> set[int]:
        """The numbers of the tasks that the fields name."""
        return _numbers(self.fields) | (_numbers(self.page.fields) if self.page else set())

    @cached_property
    def answers(self) -> list[Answered]:
        """The answer to each task, for at most as many tasks as a HIT has images.

        The marketplace's fields come before the page's, because only the worker can submit there.
        """
        on_page, elsewhere = self._tasks
        answered: dict[int, Answered] = {}
        for task, answer in islice(
            self._read([*on_page, *elsewhere], self.fields), self.campaign.config.hit.images
        ):
            answered[task.pk] = self._answered(task, answer)
        stored = self.page.fields if self.page else {}
        missing = self.campaign.config.hit.images - len(answered)
        left = [task for task in on_page if task.pk not in answered]
        for task, answer in islice(self._read(left, stored), missing):
            answered[task.pk] = self._answered(task, answer)
        return list(answered.values())

    def problems_of(self, responses: Sequence[Response]) -> dict[int, list[str]]:
        """The problems that the page would have found in the responses, by response.

        Answers that the page has checked are left out.
        """
        skipped = [NO_PRACTICE] if self.is_first and not self.row.practice else []
        skipped += [IN_PART] if responses and self._is_in_part(responses) else []
        by_response = {
            response.pk: self._problems(response.task, skipped)
            for response in responses
            if not self._was_checked(response.task)
        }
        return {response: problems for response, problems in by_response.items() if problems}

    def _is_in_part(self, responses: Sequence[Response]) -> bool:
        """Whether answers to tasks of the page are missing or, if no page is known, whether there
        are fewer than a page has tasks. The task page takes all answers or none."""
        if self.page is None:
            return len(responses) < self.campaign.config.hit.images and self._had_more(responses)
        if self.page.answered_at is not None:
            return False
        left_out = self.shown.keys() - {answered.task.pk for answered in self.answers}
        # A page leaves out what the worker has submitted in another assignment.
        elsewhere = Response.objects.filter(worker=self.row.account.worker, task__in=left_out)
        return bool(left_out) and elsewhere.count() < len(left_out)

    def _had_more(self, responses: Sequence[Response]) -> bool:
        """Whether a page could have shown the worker other tasks: they have answered some since, or
        some are still open to them. Not at the end of a campaign, when the last pages are short."""
        last = responses[-1]
        later = Response.objects.of(self.campaign).filter(worker=last.worker_id, pk__gt=last.pk)
        return later.exists() or self.campaign.tasks.open_to(last.worker).exists()

    def _problems(self, task: Task, skipped: list[str]) -> list[str]:
        try:
            KINDS[self.campaign.kind].check(task, self.campaign.config, self.fields)
        except AnswerRefused as error:
            return skipped + [problem.message for problem in error.problems]
        except AnswerMissing as error:
            return [*skipped, str(error)]
        return skipped

    def _was_checked(self, task: Task) -> bool:
        """Whether the task page has checked this answer to the task."""
        stored = self.page.fields if self.page else {}
        if task.number not in _numbers(stored):
            return False
        names = KINDS[self.campaign.kind].field_names(task)
        submitted = {name: self.fields[name] for name in names if name in self.fields}
        return all(stored.get(name, "") == text for name, text in submitted.items())

    def _part(self, fields: Mapping[str, str], task: Task) -> dict[str, str]:
        names = KINDS[self.campaign.kind].field_names(task)
        return {name: fields[name] for name in names if fields.get(name)}

    def why_held(
        self, responses: Sequence[Response], problems: Mapping[int, Sequence[str]]
    ) -> tuple[HeldCause | None, str]:
        """The cause for holding the payment, or None, and its explanation."""
        against = [problems[response.pk] for response in responses if response.pk in problems]
        if against:
            return HeldCause.RULES, " ".join(chain.from_iterable(against))
        if self.row.practice and self.campaign.config.practice.paid:
            return None, ""  # a practice is a separate assignment, without a task
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
        stored = _numbers(page.fields) if page else set()
        on_page: list[Task] = []
        elsewhere: list[Task] = []
        for candidate in self.candidates:
            if candidate.pk not in self.shown and candidate.number not in self.named:
                continue
            task = copy(candidate)  # several answers may be to the same task
            is_on_page = task.pk in self.shown or task.number in stored
            task.primed = self.shown.get(task.pk)
            if page and task.number in stored and task.shows_keywords is None:
                # The answer's form may be older than the claim.
                task.primed = task.number in page.primed
            (on_page if is_on_page else elsewhere).append(task)
        return on_page, elsewhere

    def _answered(self, task: Task, answer: Any) -> Answered:
        """The answer with the time and the behaviour that were sent with it, if any."""
        page = self.page
        if page is None or page.answered_at is None or str(task.number) not in page.counts:
            return Answered(task, answer)
        submitted, sent = self._part(self.fields, task), self._part(page.fields, task)
        if submitted and submitted != sent:
            # Anybody who knows the ids of the page's address may have sent the other answer.
            return Answered(task, answer)
        seconds = max(0, int((page.answered_at - page.opened_at).total_seconds()))
        return Answered(
            task,
            answer,
            seconds=seconds // len(page.counts),
            behaviour={"device": page.device, **page.counts[str(task.number)]},
        )


def _numbers(fields: Mapping[str, str]) -> set[int]:
    """The task numbers at the ends of the fields' names, at most MOST_NAMED."""
    ends = (name.rsplit("-", 1)[-1] for name in fields)
    # Numbers of ten digits may not fit the column.
    numbers = {int(end) for end in ends if end.isdecimal() and len(end) < 10}
    return set(sorted(numbers)[:MOST_NAMED])
