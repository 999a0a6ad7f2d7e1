"""What another transaction has locked is waited for, and decided on as it is afterwards."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.db import connection
from django.utils import timezone

from annotate.models import Campaign, Task
from annotate.services.places import lock_tasks
from hits.models import Assignment, Bonus, Hit, HitStatus, TaskPage
from hits.queries.costs import spend
from hits.reconcile.close import close
from hits.reconcile.reading import adopt
from hits.reconcile.top_up import plan_slots
from hits.services.bonuses import BonusNotPossible, plan_bonus
from hits.services.closed_pages import close_pages
from hits.services.counts import recount
from hits.services.submissions import take_submission
from hits.services.task_pages import FrameParameters, open_page, store_answers
from tests.factories import NOON, AssignmentFactory, ClaimFactory, HitFactory, HitTypeFactory
from tests.hits.conftest import make_campaign
from tests.hits.test_strangers import SENTENCE, listed
from tests.races import while_open

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one"),
]


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(tasks=2)


@pytest.fixture
def hit(campaign) -> Hit:
    return HitFactory(hit_type=HitTypeFactory(campaign=campaign), hit_id="HIT1")


@pytest.fixture
def frame() -> FrameParameters:
    return FrameParameters("ASSIGNMENT1", "HIT1", "AWORKER1", "http://127.0.0.1:8001")


def test_the_second_request_of_a_double_click_shows_the_page_of_the_first(campaign, hit, frame):
    def open_once():
        return open_page(campaign=campaign, frame=frame, at=timezone.now())

    page = while_open(open_once, open_once)

    claimed = TaskPage.objects.get().claims.values_list("task", flat=True)
    assert [task.pk for task in page.tasks] == list(claimed)


def test_an_answer_that_is_sent_twice_from_a_closed_page_is_stored_once(campaign, hit, frame):
    form = open_page(campaign=campaign, frame=frame, at=timezone.now()).form
    close_pages(TaskPage.objects.values_list("pk", flat=True))
    fields = {f"caption-{form.numbers[0]}": SENTENCE}

    def send():
        return store_answers(
            campaign=campaign, form=form, fields=fields, counts={}, device="", at=timezone.now()
        )

    assert while_open(send, send) == fields
    assert TaskPage.objects.get().fields == fields


def test_ingest_that_waits_for_a_task_holds_no_later_one(campaign, hit):
    """The page shows the first task, and the answer is to the second."""
    first, second = campaign.tasks.order_by("pk")
    page = {"page__hit": hit, "page__assignment_id": "A1", "page__marketplace_id": "AW1"}
    ClaimFactory(task=first, **page)
    report = listed("A1", "AW1", **{f"caption-{second.number}": SENTENCE})

    while_open(
        lambda: lock_tasks([first.pk]),
        lambda: take_submission(campaign=campaign, hit=hit, listed=report, at=NOON),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=second.pk),
    )

    assert Assignment.objects.get().responses.get().task == second


def test_a_hit_counts_the_assignments_that_are_there_after_the_wait(hit):
    def add_one():
        Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)
        AssignmentFactory(hit=hit)

    while_open(add_one, lambda: recount(hit.pk))

    hit.refresh_from_db()
    assert hit.ingested == 1


def test_two_reconcilers_plan_the_missing_slots_once(campaign):
    run = SimpleNamespace(campaign=campaign, at=NOON)
    hit_type = HitTypeFactory(campaign=campaign)

    def plan():
        plan_slots(run, hit_type)

    while_open(plan, plan)

    assert sum(Hit.objects.values_list("slots", flat=True)) == 2 * 3


def test_a_hit_that_another_sync_has_just_found_is_not_withdrawn(campaign):
    planned = HitFactory(
        hit_type=HitTypeFactory(campaign=campaign), status=HitStatus.PLANNED, hit_id=None
    )
    Campaign.objects.update(status="PAUSED")
    campaign.refresh_from_db()
    run = SimpleNamespace(
        campaign=campaign,
        at=timezone.now(),
        sync=SimpleNamespace(listing="ACCOUNT"),
        healthy_first=lambda hits, _name: [],
    )

    while_open(lambda: adopt(planned, "HIT1", timezone.now()), lambda: close(run))

    assert Hit.objects.get().hit_id == "HIT1"


def test_two_bonuses_at_once_do_not_exceed_the_budget(hit):
    assignment = AssignmentFactory(hit=hit)
    left = spend(hit.campaign).left
    bonus = {"assignment": assignment, "amount": left * Decimal("0.6"), "reason": "Good work."}

    def plan():
        plan_bonus(**bonus, at=NOON)

    with pytest.raises(BonusNotPossible):
        while_open(plan, plan)

    assert Bonus.objects.count() == 1
