"""Services wait for rows that another transaction has locked, and decide on them as they are
afterwards."""

import json
from decimal import Decimal
from functools import partial
from itertools import count
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotate.kinds.practice import signed_marks
from annotate.models import Campaign, Task
from annotate.services.responses import lock_tasks
from corpora.datasets.collected import Columns
from corpora.errors import DomainError
from hits.models import Assignment, Bonus, Claim, Hit, HitStatus, MessageRecipient, TaskPage
from hits.queries.costs import spend
from hits.reconcile.reading import adopt
from hits.reconcile.retire import close
from hits.reconcile.storing import recount
from hits.reconcile.top_up import plan_slots
from hits.services.bonuses import BonusNotPossible, Wish, plan_bonuses
from hits.services.collected import import_collected
from hits.services.hit_pages import FrameParameters, close_pages
from hits.services.messages import plan_message
from hits.services.submissions import Reported, take_submissions
from hits.services.task_pages import open_page, store_answers
from hits.services.worker_data import erase_worker
from qualcontrol.models import Pause
from qualcontrol.services.locks import lock_worker
from qualcontrol.services.sampling import locked_sample
from tests.factories import (
    NOON,
    AssignmentFactory,
    ClaimFactory,
    HitFactory,
    HitTypeFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskPageFactory,
    UserFactory,
    WorkerAccountFactory,
    WorkerFactory,
    make_campaign,
)
from tests.hits.opened_pages import SENTENCE, listed
from tests.hits.practice import make_hit
from tests.races import just_before, just_before_number, while_open
from tests.submitted import take_submission

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


def test_a_page_that_waits_for_a_task_holds_none_that_the_worker_has_done(campaign, hit, frame):
    """Another assignment of the worker had the page's task."""
    first, second = campaign.tasks.order_by("pk")
    account = WorkerAccountFactory(marketplace_id=frame.worker_id)
    page = {"page__hit": hit, "page__assignment_id": frame.assignment_id}
    ClaimFactory(task=second, page__marketplace_id=frame.worker_id, **page)
    ResponseFactory(task=second, worker=account.worker)

    shown = while_open(
        lambda: lock_tasks([first.pk]),
        lambda: open_page(campaign=campaign, frame=frame, at=timezone.now()),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=second.pk),
    )

    assert shown.tasks == [first]
    assert [claim.task for claim in Claim.objects.all()] == [first]


def test_ingest_waits_for_no_task_of_a_page_that_was_opened_meanwhile(campaign, hit):
    """It holds the answer's task, which somebody who holds the page's earlier one waits for."""
    first, second = campaign.tasks.order_by("pk")
    report = listed("A1", "AW1", **{f"caption-{second.number}": SENTENCE})

    def open_other():
        Claim.objects.create(task=first, page=TaskPageFactory(hit=hit, assignment_id="A1"))

    def ingest():
        with just_before('INSERT INTO "annotate_response"', open_other):
            take_submission(campaign=campaign, hit=hit, listed=report, at=NOON)

    while_open(lambda: lock_tasks([first.pk]), ingest, meanwhile=lambda: lock_tasks([second.pk]))

    assert Assignment.objects.get().submission.responses.get().task == second
    assert Claim.objects.get().task == first


def test_a_failed_practice_locks_the_tasks_of_earlier_work_in_order():
    hit = make_hit(pass_mark=1, paid=True)
    first, second, _ = hit.campaign.tasks.order_by("pk")
    account = WorkerAccountFactory(marketplace_id="AFAILED1")
    response = ResponseFactory(task=first, worker=account.worker)
    marks = signed_marks(hit.campaign, "AFAILED1", "0000")
    reported = [
        Reported(hit, listed("A1", "AFAILED1", practice=marks)),
        Reported(hit, listed("A2", "AOTHER1", **{f"caption-{second.number}": SENTENCE})),
    ]

    while_open(
        lambda: lock_tasks([first.pk]),
        lambda: take_submissions(campaign=hit.campaign, reported=reported, at=NOON),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=second.pk),
    )

    response.refresh_from_db()
    assert response.status == "DISCARDED"
    assert second.responses.count() == 1


def test_ingest_that_waits_for_the_sample_of_checks_holds_no_task(campaign, hit):
    """Somebody who shares the sample may wait for the task."""
    task = campaign.tasks.first()
    report = listed("A1", "AW1", **{f"caption-{task.number}": SENTENCE})

    while_open(
        lambda: locked_sample(campaign),
        lambda: take_submission(campaign=campaign, hit=hit, listed=report, at=NOON),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=task.pk),
    )

    assert Assignment.objects.get().submission.responses.get().task == task


def test_an_import_that_waits_for_the_sample_of_checks_holds_no_task(campaign, tmp_path):
    task = campaign.tasks.select_related("image").first()
    path = tmp_path / "captions.jsonl"
    path.write_text(json.dumps({"image": task.image.key, "worker": "AW1", "caption": SENTENCE}))

    while_open(
        lambda: locked_sample(campaign),
        lambda: import_collected(campaign=campaign, path=path, columns=Columns(), at=NOON),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=task.pk),
    )

    assert task.responses.count() == 1


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

    assert Assignment.objects.get().submission.responses.get().task == second


def test_a_hit_counts_the_assignments_that_are_there_after_the_wait(hit):
    def add_one():
        Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)
        AssignmentFactory(hit=hit)

    while_open(add_one, lambda: recount([hit.pk]))

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
    worker = AssignmentFactory(hit=hit).account.worker.pseudonym
    amount = round(spend(hit.campaign).left * Decimal("0.6"), 2)

    def plan(reason):
        wishes = [Wish(worker, amount, reason)]
        plan_bonuses(campaign=hit.campaign, wishes=wishes, key=reason, at=NOON)

    with pytest.raises(BonusNotPossible, match="budget"):
        while_open(lambda: plan("careful"), lambda: plan("quick"))

    assert Bonus.objects.count() == 1


def submit_one(hit):
    """As ingest does: first the assignment with its response, then the counts of the HIT."""
    response = ResponseFactory(
        task=hit.campaign.tasks.first(), assignment=AssignmentFactory(hit=hit)
    )
    Hit.objects.filter(pk=hit.pk).update(available=F("available") - 1)
    return response


def test_a_response_that_comes_in_while_slots_are_planned_adds_none():
    for moment in count():
        hit = HitFactory(hit_type__campaign=make_campaign(tasks=1), slots=3)
        with just_before_number(moment, partial(submit_one, hit)) as happened:
            plan_slots(SimpleNamespace(campaign=hit.campaign, at=NOON), hit.hit_type)
        assert hit.campaign.hits.get() == hit
        if not happened:
            break

    assert moment > 5


def retire_all(hit):
    hit.assignments.update(status="APPROVED", decided_at=NOON)
    Hit.objects.filter(pk=hit.pk).update(available=0)
    Hit.objects.filter(pk=hit.pk).retire()


@pytest.mark.parametrize(("slots", "act"), [(2, submit_one), (1, retire_all)])
def test_money_that_moves_while_it_is_counted_is_in_the_sum(slots, act):
    for moment in range(4):
        hit = HitFactory(
            hit_type__campaign=make_campaign(tasks=1), slots=slots, available=slots - 1
        )
        AssignmentFactory(hit=hit)
        before = spend(hit.campaign).committed
        with just_before_number(moment, partial(act, hit)):
            assert spend(hit.campaign).committed >= before
        assert spend(hit.campaign).committed == before


def wish_for_bonuses(campaign, account):
    wishes = [Wish(account.worker.pseudonym, Decimal(1), "Thanks")]
    plan_bonuses(campaign=campaign, wishes=wishes, key="k", at=NOON)


def write_to_worker(campaign, account):
    plan_message(
        campaign=campaign,
        pseudonyms=[account.worker.pseudonym],
        subject="Thanks",
        text="Good.",
        key="k",
        sender=UserFactory(),
        at=NOON,
    )


@pytest.mark.parametrize("plan", [wish_for_bonuses, write_to_worker])
def test_nothing_is_planned_for_a_worker_who_is_erased_at_this_moment(hit, plan):
    account = AssignmentFactory(hit=hit, status="APPROVED", decided_at=NOON).account

    with pytest.raises(DomainError, match="deleted"):
        while_open(
            lambda: erase_worker(worker=account.worker, by=None, at=NOON),
            lambda: plan(hit.campaign, account),
        )

    assert not Bonus.objects.exists()
    assert not MessageRecipient.objects.exists()


def test_a_submission_does_not_wait_for_a_bonus_that_waits_for_its_worker(campaign, hit):
    """The submission's checks refer to the campaign, which the bonus has locked."""
    account = AssignmentFactory(hit=hit, status="APPROVED", decided_at=NOON).account

    while_open(
        lambda: lock_worker(account.worker),
        lambda: wish_for_bonuses(campaign, account),
        meanwhile=lambda: SpotCheckFactory(response__worker=account.worker, campaign=campaign),
    )

    assert Bonus.objects.count() == 1


def test_the_policy_waits_for_a_worker_without_the_locks_of_a_keyed_verdict(api, campaign):
    check = SpotCheckFactory(response__task=campaign.tasks.first())
    doubted = WorkerFactory()
    Pause.objects.create(
        campaign=campaign, worker=doubted, reason="doubt", is_by_policy=True, paused_at=NOON
    )
    address = f"/api/campaigns/{campaign.slug}/spot-checks/{check.response.key}/verdict/"
    verdict = {"verdict": "BAD", "reason": "vague"}

    answer = while_open(
        lambda: lock_worker(doubted),
        lambda: api.post(address, verdict, "application/json", headers={"Idempotency-Key": "once"}),
        meanwhile=lambda: lock_worker(check.response.worker),
    )

    assert answer.status_code == 201
    assert not campaign.pauses.in_force().exists()
