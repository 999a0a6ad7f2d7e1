"""Texts in rounds while others act: a careless worker, killed syncs, transactions at one time."""

from contextlib import suppress

import pytest
from django.db import connection

from annotate.kinds.practice import signed_marks
from annotate.models import Response, ResponseStatus, Task
from annotate.services.responses import lock_tasks
from hits.models import Assignment, WorkerAccount
from hits.reconcile.reconciler import reconcile
from hits.services.claims import recount_places
from hits.services.payments import ask_for_rejection, reject_held
from qualcontrol.flags import BREAKS_RULES
from qualcontrol.models import Assessment, Decision, HeldCause, HeldPayment
from qualcontrol.review.judging import judge
from qualcontrol.review.undoing import change_verdict
from qualcontrol.services.errors import AlreadyJudged
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.held_payments import hold_payment
from qualcontrol.services.locks import lock_workers
from qualcontrol.services.releasing import release_campaign
from tests.factories import NOON, UserFactory
from tests.hits.framed_work import accept, fields_of, open_page
from tests.hits.opened_pages import listed
from tests.hits.reconcile.killed import reconcile_in_child
from tests.hits.rounds import FIRST, SECOND, THIRD, Writer, make_campaign, states
from tests.races import while_open
from tests.submitted import take_submission
from tests.threads import at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
needs_row_locks = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="transactions run one by one"
)


def submit(client, worker, frame, text):
    page = open_page(client, frame)
    fields = fields_of(page, "data-task")
    fields = {key: text if key.startswith("text-") else value for key, value in fields.items()}
    forward = client.post(frame.src.partition("?")[0].removeprefix("http://testserver"), fields)
    sent = fields_of(forward, "data-forward")
    assert worker.submit(sent.pop("assignmentId"), **sent).ok


def sync_with_kills(campaign):
    """Reconcile until it survives, killed one write or call later each time."""
    fatal = 1
    while reconcile_in_child(campaign, fatal):
        fatal += 3
    reconcile(campaign)


def test_a_careless_second_round_is_replaced_after_any_kill(client, marketplace, requester):
    campaign = make_campaign()
    first, careless, third, fourth, fifth = marketplace.fresh_workers(5)
    reconcile(campaign)
    texts = (FIRST, "Nice photo, very good.", THIRD)
    for worker, text in zip((first, careless, third), texts, strict=True):
        submit(client, worker, accept(worker, campaign), text)
        sync_with_kills(campaign)
    chain = list(campaign.responses.order_by("pk"))
    assert [response.round for response in chain] == [1, 2, 3]

    exclude_worker(
        campaign=campaign, worker=chain[1].worker, reason="careless", actor=None, at=NOON
    )
    sync_with_kills(campaign)
    late = accept(fourth, campaign)
    open_page(client, late)
    submit(client, fourth, late, SECOND)
    sync_with_kills(campaign)
    submit(client, fifth, accept(fifth, campaign), THIRD)
    sync_with_kills(campaign)

    assert states(*chain) == [True, False, False]
    counting = campaign.responses.counting().order_by("round")
    assert [each.builds_on_id for each in counting] == [None, *(r.pk for r in counting[:2])]
    assert recount_places(campaign) == 0
    # Everybody is paid, and nothing was bought twice.
    assert Assignment.objects.filter(status="APPROVED").count() == 5
    assert release_campaign(campaign=campaign, name="v1", seed=1, at=NOON).images.count() == 1


@pytest.fixture
def chain(client):
    campaign = make_campaign()
    return [Writer(client, campaign).write(text) for text in (FIRST, SECOND, THIRD)]


def exclude_first(chain):
    exclude_worker(
        campaign=chain[0].campaign, worker=chain[0].worker, reason="no", actor=None, at=NOON
    )


def judge_last(chain):
    judge(response=chain[2], verdict="BAD", reason="no", reviewer=UserFactory(), at=NOON)


@needs_row_locks
def test_a_verdict_waits_for_an_exclusion_that_discards_its_response(chain):
    with pytest.raises(AlreadyJudged):
        while_open(lambda: exclude_first(chain), lambda: judge_last(chain))

    assert states(*chain) == [False, False, False]


@needs_row_locks
def test_an_exclusion_waits_for_a_verdict_on_what_it_discards(chain):
    while_open(lambda: judge_last(chain), lambda: exclude_first(chain))

    assert states(*chain) == [False, False, False]
    assert Decision.objects.filter(response=chain[2], act="DISCARD").count() == 1


@needs_row_locks
def test_a_rejection_that_waits_for_a_worker_of_the_text_holds_no_later_one(chain):
    last, reviewer = chain[2], UserFactory()
    exclude_worker(campaign=last.campaign, worker=last.worker, reason="no", actor=None, at=NOON)

    while_open(
        lambda: lock_workers([chain[0].worker_id]),
        lambda: ask_for_rejection(response=last, reason="no", actor=reviewer, at=NOON),
        meanwhile=lambda: lock_workers([last.worker_id]),
    )

    assert Decision.objects.get(act="REJECT").response == last


@needs_row_locks
def test_a_failed_practice_waits_for_the_workers_of_what_it_discards(chain):
    """It holds no task meanwhile, as their locks come before those of tasks."""
    first, campaign = chain[0], chain[0].campaign
    graded = {"image": "any", "text": FIRST, "good": True, "why": "Complete."}
    campaign.config_json["practice"] = {"captions": [graded], "pass_mark": 1}
    campaign.save()
    account = WorkerAccount.objects.get(worker=first.worker)
    marks = signed_marks(campaign, account.marketplace_id, "0")
    report = listed("A9", account.marketplace_id, practice=marks)
    hit = campaign.hits.first()

    while_open(
        lambda: lock_workers([chain[2].worker_id]),
        lambda: take_submission(campaign=campaign, hit=hit, listed=report, at=NOON),
        meanwhile=lambda: Task.objects.select_for_update(nowait=True).get(pk=first.task_id),
    )

    assert states(*chain) == [False, False, False]


@needs_row_locks
def test_a_refused_payment_waits_for_the_workers_of_what_it_discards(chain):
    first, reviewer = chain[0], UserFactory()
    Assessment.objects.filter(response=first).update(codes=BREAKS_RULES)
    values = {"worker": first.worker, "submission": first.submission_id, "at": NOON}
    hold_payment(campaign=first.campaign, cause=HeldCause.RULES, why="no", **values)
    held, seen = HeldPayment.objects.get(), []

    while_open(
        lambda: lock_workers([chain[2].worker_id]),
        lambda: reject_held(held=held, reason="no", actor=reviewer, at=NOON),
        meanwhile=lambda: seen.extend(states(*chain)),
    )

    assert seen == [True, True, True]
    assert states(*chain) == [False, False, False]


@needs_row_locks
@pytest.mark.parametrize("verdicts", [["GOOD"], ["GOOD", "BAD"]])
def test_a_changed_verdict_locks_the_tasks_of_all_that_it_moves_in_order(client, verdicts):
    """The exclusion discards from the first bad version on, whose place another one has taken."""
    review = {"share": 1, "discard": "since_first_bad", "policy": "propose"}
    campaign = make_campaign(images=3, waits_for_verdict=True, review=review)
    low, high, last = campaign.tasks.order_by("pk")
    careless, reviewer = Writer(client, campaign), UserFactory()

    def write(writer, task):
        writer.assignment = f"A{task.pk}"
        return writer.ingest(**{f"text-{task.number}": FIRST, f"base-{task.number}": ""})

    first, between, later = [write(careless, task) for task in (low, high, last)]
    for bad in (later, first):
        judge(response=bad, verdict="BAD", reason="no", reviewer=reviewer, at=NOON)
    exclude_worker(campaign=campaign, worker=careless.worker, reason="no", actor=None, at=NOON)
    write(Writer(client, campaign), low)

    def change(verdict):
        change_verdict(response=first, verdict=verdict, reason="no", actor=reviewer, at=NOON)

    for verdict in verdicts[:-1]:
        change(verdict)
    while_open(
        lambda: lock_tasks([low.pk]),
        lambda: change(verdicts[-1]),
        meanwhile=lambda: lock_tasks([high.pk]),
    )

    assert states(first, between, later) == [False, verdicts[-1] == "GOOD", False]
    assert recount_places(campaign) == 0


@needs_row_locks
def test_verdicts_on_one_chain_at_the_same_time_end(chain):
    reviewer = UserFactory()

    def judge_bad(response):
        with suppress(AlreadyJudged):
            judge(response=response, verdict="BAD", reason="no", reviewer=reviewer, at=NOON)

    at_once(judge_bad, chain)

    assert states(*chain) == [False, False, False]
    assert recount_places(chain[0].campaign) == 0


@needs_row_locks
def test_of_two_versions_of_a_round_that_arrive_at_once_one_counts(client):
    campaign = make_campaign()
    writers = [Writer(client, campaign) for _ in range(4)]
    for writer in writers:
        writer.open()
        writer.send(FIRST)

    at_once(Writer.ingest, writers)

    found = Response.objects.filter(campaign=campaign)
    assert sorted(found.values_list("status", flat=True)) == [
        *[ResponseStatus.DISCARDED] * 3,
        ResponseStatus.SUBMITTED,
    ]
    assert recount_places(campaign) == 0
