"""A worker's turn at a seat: opening the task page, and storing the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction

from annotate.errors import DomainError
from annotate.kinds import KINDS, AnswerMissing, AnswerRefused
from annotate.language.text import Problem
from annotate.models import Campaign, Claim, Response, ResponseStatus, Worker
from annotate.services.claims import NothingToDo, claim_tasks, release_claims
from annotate.services.responses import keep_behaviour, store_answer
from hits.behaviour import behaviour_field, read_counts
from hits.client import marketplace_of
from hits.models import Assignment, AssignmentStatus, Barring, Hit, WorkerAccount
from hits.services.accounts import account_for
from hits.tokens import Turn
from qualcontrol.models import kept_out

# A lease outlives the assignment a little, so that an answer in the last second finds its place.
GRACE = timedelta(minutes=5)


class UnknownHit(DomainError):
    """The page was opened for a HIT that is not one of the campaign's."""


class AlreadySubmitted(DomainError):
    """The assignment was submitted before."""


class AnswersRefused(DomainError):
    """At least one answer breaks a rule; `problems` has a list for each claim's key."""

    def __init__(self, problems: Mapping[int, list[Problem]]) -> None:
        super().__init__("Please correct what is marked.")
        self.problems = problems


def open_turn(*, campaign: Campaign, turn: Turn, at: datetime) -> tuple[Assignment, list[Claim]]:
    """The worker's assignment and the claims that its page shows.

    Opening the page again shows the same tasks. Raises UnknownHit, AlreadySubmitted, or
    NothingToDo, after which the worker is to be kept from further HITs (`keep_away`).
    """
    hit = Hit.objects.filter(campaign=campaign, hit_id=turn.hit_id).first()
    if hit is None:
        raise UnknownHit("This HIT is not known here (yet). Please reload the page in a minute.")
    account = account_for(endpoint=campaign.endpoint, marketplace_id=turn.worker_id)
    # A transaction of its own: who waits for a place has no task in hand that others wait for.
    _take_over(turn, account)
    return _open(campaign, hit, turn, account, at)


@transaction.atomic
def _open(
    campaign: Campaign, hit: Hit, turn: Turn, account: WorkerAccount, at: datetime
) -> tuple[Assignment, list[Claim]]:
    # A double click waits for the first one, and then sees what it took.
    Worker.objects.select_for_update().get(pk=account.worker_id)
    assignment, _ = Assignment.objects.get_or_create(
        assignment_id=turn.assignment_id,
        account=account,
        defaults={"hit": hit, "opened_at": at},
    )
    if assignment.status != AssignmentStatus.OPENED:
        raise AlreadySubmitted("You have submitted this HIT already. Thank you!")
    return assignment, _claims(campaign, assignment, account.worker, at)


def _take_over(turn: Turn, account: WorkerAccount) -> None:
    """Release what others held under this assignment id: the marketplace gives the id of a
    returned assignment to the next worker."""
    earlier = Claim.objects.held().filter(
        assignments__assignment_id=turn.assignment_id,
        assignments__status=AssignmentStatus.OPENED,
    )
    release_claims(claims=earlier.exclude(worker=account.worker_id))


def _claims(
    campaign: Campaign, assignment: Assignment, worker: Worker, at: datetime
) -> list[Claim]:
    held = assignment.claims.held().with_task().order_by("pk")
    if claims := list(held):
        return claims
    if kept_out(campaign).filter(pk=worker.pk).exists():
        raise NothingToDo("There is nothing left in this campaign for you.")
    hit = campaign.config.hit
    claims = claim_tasks(
        campaign=campaign,
        worker=worker,
        count=hit.images,
        at=at,
        expires_at=at + timedelta(minutes=hit.minutes) + GRACE,
    )
    assignment.claims.add(*claims)
    return claims


# HITs looked at, at most, before a worker is told that nothing is left.
LOOKED_AT = 5


def release_returned(*, campaign: Campaign, turn: Turn, at: datetime) -> int:
    """Free the places of workers who gave their HIT back since the last reconciliation, which the
    marketplace tells by counts only: where nobody but this worker is at work, nobody holds
    anything. Returns how many places came free; raises MarketplaceError."""
    held = Claim.objects.held().filter(task__campaign=campaign, claimed_at__lt=at)
    others = held.exclude(assignments__assignment_id=turn.assignment_id)
    hit_ids = others.order_by("claimed_at").values_list("assignments__hit__hit_id", flat=True)
    marketplace, freed = marketplace_of(campaign), 0
    for hit_id in list(dict.fromkeys(hit_ids))[:LOOKED_AT]:
        at_work = marketplace.hit(hit_id or "")["NumberOfAssignmentsPending"]
        if at_work == (1 if hit_id == turn.hit_id else 0):
            in_hit = others.filter(assignments__hit__hit_id=hit_id)
            # A submission that was not read yet is no return: its answer is stored here.
            freed += release_claims(claims=in_hit.filter(response=None))
    return freed


@dataclass(frozen=True)
class Stored:
    """Answers that are safe here, and the fields that go on to the marketplace."""

    assignment: Assignment
    fields: dict[str, str]


@transaction.atomic
def store_answers(
    *, campaign: Campaign, turn: Turn, fields: Mapping[str, str], at: datetime, device: str = ""
) -> Stored:
    """Check and keep the answers of a turn, all or none, and how they came about.

    Raises UnknownHit if the page was never opened, AlreadySubmitted, or AnswersRefused.
    """
    assignment = (
        Assignment.objects.of(campaign)
        .select_related("account__worker")
        .filter(assignment_id=turn.assignment_id, account__marketplace_id=turn.worker_id)
        .first()
    )
    if assignment is None:
        raise UnknownHit("This page was not opened for you. Please open the HIT again.")
    if assignment.status != AssignmentStatus.OPENED:
        raise AlreadySubmitted("You have submitted this HIT already. Thank you!")
    claims = _latest_claims(assignment)
    answers = _check(campaign, claims, fields)
    kind, passed_on = KINDS[campaign.kind], {}
    for claim in claims:
        response = store_answer(
            task=claim.task,
            worker=claim.worker,
            answer=answers[claim.pk],
            at=at,
            claim=claim,
            seconds=max(0, int((at - claim.claimed_at).total_seconds())),
        )
        counts = read_counts(fields.get(behaviour_field(claim.task.number), ""))
        keep_behaviour(response=response, device=device, counts=counts)
        passed_on.update(kind.fields_of(response))
    return Stored(assignment, passed_on)


def _latest_claims(assignment: Assignment) -> list[Claim]:
    """The claims that the open page shows; a lease that ended meanwhile does not matter."""
    claims = assignment.claims.with_task().select_related("worker")
    latest: dict[int, Claim] = {claim.task_id: claim for claim in claims.order_by("pk")}
    held = [claim for claim in latest.values() if claim.status == "HELD"]
    return held or list(latest.values())


def _check(campaign: Campaign, claims: list[Claim], fields: Mapping[str, str]) -> dict[int, Any]:
    kind, config = KINDS[campaign.kind], campaign.config
    answers: dict[int, Any] = {}
    problems: dict[int, list[Problem]] = {}
    for claim in claims:
        try:
            answers[claim.pk] = kind.check(claim.task, config, fields)
        except AnswerRefused as error:
            problems[claim.pk] = error.problems
        except AnswerMissing as error:
            problems[claim.pk] = [Problem("missing", str(error))]
    if problems:
        raise AnswersRefused(problems)
    return answers


def stored_fields(claims: list[Claim]) -> dict[str, str]:
    """What the worker wrote before, for a page that is opened again."""
    fields: dict[str, str] = {}
    kind = KINDS[claims[0].task.campaign.kind]
    stored = Response.objects.filter(claim__in=claims, status=ResponseStatus.STORED)
    for response in stored.select_related("task", *kind.content):
        fields.update(kind.fields_of(response))
    return fields


def keep_away(*, campaign: Campaign, account: WorkerAccount) -> None:
    """Keep a worker for whom nothing is left from accepting another HIT of the campaign in vain.

    The marketplace is told as soon as this change is saved; if it cannot be told now, the next
    reconciliation does it.
    """
    from hits.tasks import tell_barring

    hit_type = campaign.hit_types.first()
    may_work = not kept_out(campaign).filter(pk=account.worker_id).exists()
    if hit_type is None or (may_work and campaign.tasks.open_to(account.worker).exists()):
        return
    barring, _ = Barring.objects.update_or_create(
        hit_type=hit_type, account=account, defaults={"is_wanted": True}
    )
    if not barring.is_in_force:
        transaction.on_commit(partial(tell_barring.delay, barring.pk))
