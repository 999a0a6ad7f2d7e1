"""Faults at the panel and a process killed at each step: nobody is paid twice or forgotten."""

import random
from contextlib import suppress
from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
import requests
from django.db import connection, transaction

from marketplace import clock
from marketplace.models import Assignment, AssignmentStatus, Participation, Screening, Worker
from marketplace.models.accounts import ExternalIdentity
from marketplace.panels.client import prolific
from marketplace.panels.models import BatchState, BonusBatch, PanelStudy
from marketplace.panels.services import amounts, bonuses, rounds
from marketplace.services import assignments, reviews
from simulation.prolific.state import World, new_id
from tests.marketplace.panels.people import connect, make_panel_study, publish, published_study

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


class KilledError(BaseException):
    """Stands for the end of the process: no `except Exception` of the program catches it."""


@pytest.fixture
def world() -> World:
    return World(balance=100_000_00)


SCREENED_OUT = -1


def take_part(world, panel_study, *, hits: int) -> None:
    """A participant arrives, does some HITs or is screened out, and returns with the code."""
    study, at = panel_study.study, clock.now()
    submission = world.take_place(world.study(panel_study.external_id), new_id())
    worker = Worker.objects.create(name=f"guest {submission.id}", created_at=at)
    ExternalIdentity.objects.create(
        worker=worker, source=study.id_parameter, identifier=submission.participant
    )
    Participation.objects.create(study=study, worker=worker, started_at=at)
    if hits == SCREENED_OUT:
        Participation.objects.filter(worker=worker).update(screened_out_at=at)
        world.complete(submission, "OUT")
        return
    for _ in range(hits):
        made = assignments.accept(worker=worker, hit_type=study.hit_type, at=at)
        assignments.submit(assignment=made, answer="<a/>", at=at)
    world.complete(submission, "DONE" if hits == study.assignments else "NOWORK")


def decide_hits() -> None:
    for assignment in Assignment.objects.filter(status=AssignmentStatus.SUBMITTED):
        reviews.approve(assignment=assignment, at=clock.now())


def person_decides(world, panel_study, at) -> None:
    """The operator looks at both sides, which here are the stand-in's bonuses."""
    for batch in BonusBatch.objects.filter(state=BatchState.UNCLEAR):
        was_paid = bool(batch.external_id) and world.bulks[batch.external_id].times_paid > 0
        bonuses.decide_unclear(
            batch=batch,
            was_paid=was_paid,
            panel=prolific(),
            operator="root",
            at=at,
        )


def check(world, panel_study) -> None:
    """To the cent; each participant has the reward once, and what was earned above it."""
    here = amounts.recorded(panel_study)
    cents = {name: int(amount * 100) for name, amount in vars(here).items()}
    assert cents == world.spent(world.study(panel_study.external_id))
    assert all(bulk.times_paid <= 1 for bulk in world.bulks.values())
    reward, per_hit = int(panel_study.reward * 100), 100
    for submission in world.submissions.values():
        identity = ExternalIdentity.objects.get(identifier=submission.participant)
        done = Assignment.objects.filter(worker=identity.worker, status="Approved").count()
        due = done * per_hit - (reward if submission.status == "APPROVED" else 0)
        assert sum(submission.bonuses) == max(due, 0)
        participation = Participation.objects.get(worker=identity.worker)
        expected = (
            "SCREENED OUT"
            if participation.screened_out_at
            else "APPROVED"
            if done == 2
            else "RETURNED"
        )
        assert submission.status == expected


def settle(world, panel_study) -> None:
    """Rounds without faults, with an operator, until nothing changes."""
    at = clock.now() + 10 * DAY
    for _ in range(6):
        at += DAY
        for submission in world.submissions.values():
            if submission.return_requested and submission.status == "AWAITING REVIEW":
                world.give_back(submission)
        before = state_of(world)
        rounds.run_round(panel_study=panel_study, at=at)
        person_decides(world, panel_study, at)
        if state_of(world) == before:
            return


def state_of(world) -> tuple[object, ...]:
    """What a round can change, here and at the panel."""
    submissions = [
        (each.status, each.return_requested, *each.bonuses) for each in world.submissions.values()
    ]
    times_paid = [bulk.times_paid for bulk in world.bulks.values()]
    return submissions, times_paid, list(BonusBatch.objects.order_by("pk").values())


def run_with_faults(
    panel_api, panel_study, chance: random.Random, at: datetime
) -> tuple[datetime, int]:
    """Some rounds in which requests fail, and the process ends at any request or write.

    Returns the time, and how often it ended at a write.
    """
    ends = 0

    def fault(*_):
        kind = chance.choice([*[None] * 12, 429, 500, "lost", "killed"])
        if kind == "lost":
            raise requests.ConnectionError("cut")
        if kind == "killed":
            raise KilledError
        return kind

    panel_api.fault = fault
    for _ in range(5):
        at += timedelta(minutes=11)
        # A round has some tens of writes.
        steps = Steps(last=chance.randrange(1, 30))
        with suppress(KilledError), connection.execute_wrapper(steps.before_query):
            rounds.run_round(panel_study=panel_study, at=at)
        ends += steps.count == steps.last
    panel_api.fault = lambda *_: None
    return at, ends


@pytest.mark.slow
def test_a_hundred_participants_with_faults_and_kills_agree_to_the_cent(world, panel_api):
    panel_study = make_panel_study(
        hits=2,
        places=125,
        reward="1.50",
        per_hit="1.00",
        screening=Screening(
            eligibility_question="Who?",
            eligible_choices=["You"],
            ineligible_choices=["I"],
            screened_out_code="OUT",
        ),
        screen_out_reward=Decimal("0.20"),
        screen_out_places=100,
    )
    publish(panel_study)
    chance, at, ends = random.Random(1), clock.now(), 0

    for _ in range(20):
        for _ in range(5):
            take_part(world, panel_study, hits=chance.choice([SCREENED_OUT, 0, 1, 2, 2, 2]))
        decide_hits()
        at, killed = run_with_faults(panel_api, panel_study, chance, at)
        ends += killed
    settle(world, panel_study)

    assert len(world.submissions) == 100
    assert ends > 10
    check(world, panel_study)
    states = set(BonusBatch.objects.values_list("state", flat=True))
    assert states <= {BatchState.PAID, BatchState.REFUSED}


def scenario(world):
    panel_study = published_study(name="Scenes", hits=2, places=5, reward="1.50", per_hit="1.00")
    for hits in (2, 1, 0):
        take_part(world, panel_study, hits=hits)
    decide_hits()
    return panel_study


@pytest.mark.slow
def test_a_process_killed_at_any_step_pays_nobody_twice_and_forgets_nobody(settings, monkeypatch):
    """A step is before each query that writes, and before and after each request.

    The database is the same after a query as before the next step: its transaction has ended, or is
    undone.
    """
    before = World()
    connect(before, settings, monkeypatch)
    made = scenario(before)
    step, killed = 0, True
    while killed:
        step += 1
        # The hooks' queue cannot be copied; nobody subscribes to them here.
        world = deepcopy(before, {id(before.hooks): before.hooks})
        panel_api = connect(world, settings, monkeypatch)
        # What the steps before left is undone.
        with transaction.atomic():
            panel_study = PanelStudy.objects.get(pk=made.pk)
            killed = _run_until_killed(panel_api, panel_study, step)
            settle(world, panel_study)
            check(world, panel_study)
            transaction.set_rollback(True)

    assert step > 30


class Steps:
    """Ends the process at the step of a number."""

    def __init__(self, last: int) -> None:
        self.last, self.count = last, 0

    def take(self, *_: object) -> None:
        self.count += 1
        if self.count == self.last:
            raise KilledError

    def before_query(self, execute, sql, params, many, context):
        if sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
            self.take()
        return execute(sql, params, many, context)


def _run_until_killed(panel_api, panel_study, last: int) -> bool:
    """Run rounds; return whether the process was killed at the step of this number."""
    steps = Steps(last)
    panel_api.fault = steps.take
    try:
        with connection.execute_wrapper(steps.before_query):
            for number in range(4):
                at = clock.now() + number * timedelta(minutes=11)
                rounds.run_round(panel_study=panel_study, at=at)
    except KilledError:
        return True
    finally:
        panel_api.fault = lambda *_: None
    return False
