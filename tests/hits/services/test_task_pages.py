"""Task pages: whom they turn away, and where the places of returned HITs go without a sync."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import ResponseStatus, Worker
from hits.models import Claim, TaskPage
from hits.services.claims import NothingToDo, give_back_places, recount_places, take_places_again
from hits.services.hit_pages import FrameParameters, WaitsForVerdicts, close_pages
from hits.services.task_pages import open_page, store_answers
from qualcontrol.models import WorkerState, worker_state
from qualcontrol.services.exclusions import pause_worker
from tests.factories import (
    NOON,
    ExclusionFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    WorkerAccountFactory,
    make_campaign,
)

pytestmark = pytest.mark.django_db


REFUSALS = {
    WorkerState.EXCLUDED: NothingToDo,
    WorkerState.PAUSED: NothingToDo,
    WorkerState.WAITING: WaitsForVerdicts,
    WorkerState.ACTIVE: None,
}


@pytest.mark.parametrize(
    ("written", "status", "verdict", "kept_out", "state"),
    [
        (0, "SUBMITTED", "", "", WorkerState.ACTIVE),
        (1, "SUBMITTED", "", "", WorkerState.ACTIVE),
        (2, "SUBMITTED", "", "", WorkerState.WAITING),
        (2, "SUBMITTED", "GOOD", "", WorkerState.ACTIVE),
        (3, "SUBMITTED", "", "", WorkerState.WAITING),
        (2, "DISCARDED", "", "", WorkerState.ACTIVE),
        (2, "SUBMITTED", "", "pause", WorkerState.PAUSED),
        (2, "SUBMITTED", "", "exclusion", WorkerState.EXCLUDED),
        (0, "SUBMITTED", "", "exclusion elsewhere", WorkerState.ACTIVE),
    ],
)
def test_a_page_turns_away_whom_the_dashboard_calls_kept_out(
    written, status, verdict, kept_out, state
):
    campaign = make_campaign(tasks=9, review={"first": 1, "trial": 2})
    worker = WorkerAccountFactory(marketplace_id="AWORKER1").worker
    for number in range(written):
        response = ResponseFactory(
            task=TaskFactory(campaign=campaign), worker=worker, status=ResponseStatus(status)
        )
        SpotCheckFactory(
            response=response,
            is_first=number == 0,
            verdict=verdict,
            judged_at=NOON if verdict else None,
        )
    if kept_out == "pause":
        pause_worker(campaign=campaign, worker=worker, reason="copies", actor=None, at=NOON)
    elif kept_out:
        elsewhere = {} if "elsewhere" in kept_out else {"campaign": campaign}
        ExclusionFactory(worker=worker, **elsewhere)
    hit = HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1", slots=3)

    found = Worker.objects.annotate(state=worker_state(campaign)).get(pk=worker.pk)
    assert found.state == state
    assert _refusal(campaign, hit) is REFUSALS[state]


def _refusal(campaign, hit):
    frame = FrameParameters("ASSIGNMENT1", hit.hit_id, "AWORKER1", "http://127.0.0.1:8001")
    try:
        open_page(campaign=campaign, frame=frame, at=NOON)
    except (NothingToDo, WaitsForVerdicts) as error:
        return type(error)
    return None


SENTENCE = "A brown dog jumps over a low wooden fence in a garden."


class Hits:
    """HITs of a campaign, and workers who open their pages one after another."""

    def __init__(self, *, tasks: int, hits: int, slots: int):
        self.campaign = make_campaign(tasks=tasks)
        hit_type = HitTypeFactory(campaign=self.campaign)
        self.hits = [HitFactory(hit_type=hit_type, slots=slots) for _ in range(hits)]
        self.opened = 0

    def open(self, hit: int = 0, *, assignment: str = "", worker: str = ""):
        """Open the page of a new assignment, one minute after the previous one."""
        self.opened += 1
        frame = FrameParameters(
            assignment or f"ASSIGNMENT{self.opened}",
            self.hits[hit].hit_id,
            worker or f"AWORKER{self.opened}",
            "http://127.0.0.1:8001",
        )
        at = NOON + timedelta(minutes=self.opened)
        return open_page(campaign=self.campaign, frame=frame, at=at)

    def answer(self, page) -> list[int]:
        """Submit the page's answer; return the numbers of its tasks."""
        numbers = list(page.form.numbers)
        fields = {f"caption-{number}": SENTENCE for number in numbers}
        store_answers(
            campaign=self.campaign, form=page.form, fields=fields, counts={}, device="", at=NOON
        )
        return numbers

    def shown(self) -> Counter[int]:
        """By task, the number of pages that take a place."""
        numbers = Claim.objects.filter(takes_place=True).values_list("task__number", flat=True)
        return Counter(numbers)


def test_the_last_worker_of_a_full_hit_gets_the_task_that_was_returned():
    hits = Hits(tasks=3, hits=1, slots=3)
    hits.campaign.tasks.update(wanted=1, answers_missing=1, places_left=1)
    first, second, returned = hits.open(), hits.open(), hits.open()
    hits.answer(first)
    hits.answer(second)

    last = hits.open()

    assert last.form.numbers == returned.form.numbers
    assert recount_places(hits.campaign) == 0


@pytest.mark.parametrize("seed", range(5))
def test_no_task_gets_an_answer_too_many_whoever_returns_their_hit(seed):
    """New workers, one at a time: nine slots are enough for nine answers."""
    rng = random.Random(seed)
    hits = Hits(tasks=3, hits=3, slots=3)
    free = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    answered = Counter()
    while free:
        hit = rng.choice(free)
        page = hits.open(hit)
        if rng.random() < 0.5:
            free.remove(hit)
            answered.update(hits.answer(page))

    assert sorted(answered.values()) == [3, 3, 3]
    assert hits.shown() == answered
    assert recount_places(hits.campaign) == 0


def test_a_worker_who_opens_another_page_of_the_hit_has_returned_the_first():
    hits = Hits(tasks=2, hits=1, slots=9)
    hits.open(worker="AWORKER")
    hits.open(worker="AWORKER")

    assert hits.shown().total() == 1


def test_an_assignment_that_goes_to_another_worker_was_returned():
    hits = Hits(tasks=2, hits=1, slots=9)
    hits.open(assignment="AGAIN")
    hits.open(assignment="AGAIN")

    assert hits.shown().total() == 1


def test_a_worker_at_work_keeps_task_and_answer_whatever_others_open():
    hits = Hits(tasks=3, hits=1, slots=1)
    mine = hits.open(assignment="MINE", worker="AME")
    for _ in range(3):
        hits.open()
        hits.open(assignment="MINE")

    again = hits.open(assignment="MINE", worker="AME")
    assert again.form.numbers == mine.form.numbers
    numbers = hits.answer(mine)

    # The answer takes its place again, and the others' pages have none in a HIT of one slot.
    assert hits.shown() == Counter(numbers)
    assert recount_places(hits.campaign) == 0


def test_the_places_of_pages_are_given_back_once_and_taken_again_by_one_page():
    hits = Hits(tasks=1, hits=1, slots=9)
    hits.open()
    hits.open()
    mine, other = TaskPage.objects.order_by("pk").values_list("pk", flat=True)

    for _ in range(2):
        give_back_places(pages=[mine, other])
        assert hits.shown().total() == 0
        assert recount_places(hits.campaign) == 0

    for _ in range(2):
        take_places_again(page=mine)
        assert Claim.objects.get(takes_place=True).page_id == mine
        assert recount_places(hits.campaign) == 0


def test_an_answer_locks_tasks_before_its_page_as_does_the_end_of_a_page():
    """In the other order, an answer and the end of its page could wait for each other."""
    hits = Hits(tasks=2, hits=1, slots=2)
    page = hits.open()
    give_back_places(pages=TaskPage.objects.values_list("pk", flat=True))

    with CaptureQueriesContext(connection) as captured:
        hits.answer(page)

    statements = [query["sql"] for query in captured]
    changed = [each.split('"')[1] for each in statements if each.startswith("UPDATE")]
    assert changed.index("annotate_task") < changed.index("hits_taskpage")


def test_an_answer_is_kept_although_the_clock_was_put_back_since_the_page_was_opened():
    """The page was closed meanwhile, so the answer creates it again."""
    hits = Hits(tasks=1, hits=1, slots=1)
    hits.opened = 600
    page = hits.open()
    close_pages(TaskPage.objects.values_list("pk", flat=True))

    hits.answer(page)

    assert TaskPage.objects.get().answered_at == NOON
