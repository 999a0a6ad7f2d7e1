"""Two people at the same time: real transactions in threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection, transaction

from annotate.models import Campaign, Response, ResponseStatus, Task
from annotate.services.drafts import begin_draft
from annotate.services.responses import lock_tasks
from corpora.errors import DomainError
from hits.services.claims import recount_places
from hits.services.lifecycle import raise_review_share, save_draft
from qualcontrol.models import (
    Act,
    Decision,
    Exclusion,
    LearnedValues,
    SpotCheck,
    WorkerRisk,
)
from qualcontrol.review import judging
from qualcontrol.review.judging import keep_judgement
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import change_verdict, take_back
from qualcontrol.services.errors import AlreadyExcluded, AlreadyJudged, AlreadyPaused
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker
from qualcontrol.services.intake import review_submitted
from qualcontrol.services.policies import decide
from qualcontrol.services.sampling import locked_sample
from qualcontrol.services.withdrawals import withdraw_responses
from qualcontrol.services.worker_risks import learn, recount_worker_risks
from tests.factories import (
    NOON,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import (
    NO_REQUIRED_CHECKS,
    exclude,
    judge,
    pause,
    propose,
    review_late,
    write,
)
from tests.races import just_before, just_before_lock, while_open
from tests.servers import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> list[DomainError | None]:
    """Start all actions together; return the error of each, or None."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> DomainError | None:
        start.wait(PATIENCE)
        try:
            act()
        except DomainError as error:
            return error
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_of_two_verdicts_at_once_one_stands():
    check = SpotCheckFactory()

    refusals = at_once(
        *[
            lambda verdict=verdict: judging.judge(
                response=check.response, verdict=verdict, reason="vague", reviewer=None, at=NOON
            )
            for verdict in ("GOOD", "BAD", "GOOD", "BAD")
        ]
    )

    assert refusals.count(None) == 1
    check.refresh_from_db()
    acts = list(Decision.objects.order_by("pk").values_list("act", flat=True))
    is_bad = check.verdict == "BAD"
    assert acts == ([Act.JUDGE_BAD, Act.DISCARD] if is_bad else [Act.JUDGE_GOOD])


def test_of_two_exclusions_at_once_one_stands():
    campaign = CampaignFactory()
    response = ResponseFactory(task__campaign=campaign)

    refusals = at_once(
        *[
            lambda: exclude_worker(
                campaign=campaign, worker=response.worker, reason="lists", actor=None, at=NOON
            )
        ]
        * 3
    )

    assert refusals.count(None) == 1
    assert Exclusion.objects.count() == 1
    response.task.refresh_from_db()
    assert response.task.places_left == response.task.wanted


@pytest.mark.parametrize("lot", [1000, 2])
def test_excluding_workers_of_the_same_tasks_while_judging_loses_no_place(lot, monkeypatch):
    monkeypatch.setattr("shared.database.transactions.BATCH", lot)
    campaign = CampaignFactory()
    workers = WorkerFactory.create_batch(3)
    tasks = TaskFactory.create_batch(6, campaign=campaign)
    for task in tasks:
        for worker in workers:
            response = ResponseFactory(task=task, worker=worker)
    SpotCheckFactory(response=response)

    at_once(
        *[
            lambda worker=worker: exclude_worker(
                campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON
            )
            for worker in workers
        ],
        lambda: judging.judge(
            response=response, verdict="BAD", reason="vague", reviewer=None, at=NOON
        ),
    )

    assert set(Response.objects.values_list("status", flat=True)) == {ResponseStatus.DISCARDED}
    assert {task.places_left == task.wanted for task in campaign.tasks.all()} == {True}
    assert Decision.objects.filter(act=Act.DISCARD).count() == 18


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks the whole database")
def test_a_bad_verdict_locks_the_tasks_of_all_that_it_discards_in_order():
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": "since_first_bad"}
    campaign, worker = CampaignFactory(config={"review": review}), WorkerFactory()
    low, high, last = TaskFactory.create_batch(3, campaign=campaign)
    written = [ResponseFactory(task=task, worker=worker) for task in (high, low, last)]
    review_submitted(campaign=campaign, responses=written, at=NOON)
    judge(written[2], "BAD")
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    while_open(
        lambda: lock_tasks([low.pk]),
        lambda: judge(written[0], "BAD"),
        meanwhile=lambda: lock_tasks([high.pk]),
    )

    assert not Response.objects.counting().exists()
    assert recount_places(campaign) == 0


def test_excluding_and_reinstating_workers_of_the_same_tasks_at_once_fills_no_place_twice(
    monkeypatch,
):
    monkeypatch.setattr("shared.database.transactions.BATCH", 2)
    campaign = CampaignFactory()
    workers = WorkerFactory.create_batch(4)
    for task in TaskFactory.create_batch(6, campaign=campaign, wanted=3):
        for worker in workers[:3]:
            ResponseFactory(task=task, worker=worker)
    about = {"campaign": campaign, "actor": None, "at": NOON}
    exclude_worker(**about, worker=workers[0], reason="lists")
    for task in campaign.tasks.all()[:3]:
        ResponseFactory(task=task, worker=workers[3])

    refusals = at_once(
        lambda: reinstate_worker(**about, worker=workers[0], reason=""),
        *[
            lambda worker=worker: exclude_worker(**about, worker=worker, reason="lists")
            for worker in workers[1:]
        ],
    )

    assert refusals == [None] * 4
    assert recount_places(campaign) == 0
    assert min(campaign.tasks.values_list("places_left", flat=True)) >= 0
    # Those of the reinstated worker alone: three of six at least, more where a place came free
    # in time.
    counting = Response.objects.counting()
    assert set(counting.values_list("worker", flat=True)) == {workers[0].pk}
    assert 3 <= counting.count() <= 6


def test_a_response_that_comes_in_while_its_worker_is_excluded_does_not_stay():
    campaign = CampaignFactory(config={"review": {"first": 1, "share": 0}})
    for _ in range(8):
        late = ResponseFactory(task__campaign=campaign)
        at_once(
            lambda late=late: exclude_worker(
                campaign=campaign, worker=late.worker, reason="lists", actor=None, at=NOON
            ),
            lambda late=late: review_late(late),
        )

    assert not Response.objects.counting().exists()
    assert not SpotCheck.objects.open().exists()


def test_reviewers_who_ask_at_once_are_shown_different_responses():
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})
    write(campaign, WorkerFactory(), 12)
    learn(campaign=campaign)
    shown: list[int] = []

    refusals = at_once(
        *[
            lambda reviewer=reviewer: shown.extend(
                item.response.pk
                for item in next_checks(campaign=campaign, reviewer=reviewer, count=3, at=NOON)
            )
            for reviewer in UserFactory.create_batch(4)
        ]
    )

    assert refusals == [None] * 4
    assert len(shown) == len(set(shown)) == 12


def test_verdicts_answers_and_exclusions_at_once_leave_correct_worker_risks():
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    workers = WorkerFactory.create_batch(4)
    judged = [response for worker in workers for response in write(campaign, worker, 6)]
    task = TaskFactory(campaign=campaign)
    late = [ResponseFactory(task=task, worker=worker) for worker in workers]

    refusals = at_once(
        *[lambda response=response: judge(response, "BAD") for response in judged[:12]],
        *[lambda response=response: review_late(response) for response in late],
        *[lambda: learn(campaign=campaign)] * 2,
        lambda: exclude_worker(
            campaign=campaign, worker=workers[3], reason="lists", actor=None, at=NOON
        ),
    )

    assert {type(error) for error in refusals} <= {type(None), AlreadyJudged}
    assert recount_worker_risks(campaign=campaign) == 0


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks the whole database")
def test_storing_a_risk_does_not_wait_for_a_decision_about_the_worker():
    campaign, worker = CampaignFactory(), WorkerFactory()
    ResponseFactory(task__campaign=campaign, worker=worker)
    about = {"campaign": campaign, "worker": worker, "actor": None, "at": NOON}
    exclude_worker(**about, reason="lists")

    def write_worker_risk():
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '5s'")
            WorkerRisk.objects.create(campaign=campaign, worker=worker, risk=0.5)

    with just_before("qualcontrol_workerrisk", write_worker_risk):
        reinstate_worker(**about, reason="a mistake")

    assert WorkerRisk.objects.get().risk == 0.5


def test_learning_does_not_bring_back_what_a_recount_corrected_meanwhile():
    campaign, worker = CampaignFactory(config={"review": NO_REQUIRED_CHECKS}), WorkerFactory()
    write(campaign, worker, 3)
    learn(campaign=campaign)
    WorkerRisk.objects.update(tally=[[0, "", 30, 0, 0]], responses=30)
    LearnedValues.objects.update(learned_at_revision=0)
    # Learning has read the wrong counts, and is about to save the risks made from them.
    saves = {"sqlite": ("BEGIN", 2), "postgresql": ('UPDATE "qualcontrol_learnedvalues"', 1)}
    statement, nth = saves[connection.vendor]

    with just_before(statement, lambda: recount_worker_risks(campaign=campaign), nth=nth):
        learn(campaign=campaign)

    assert WorkerRisk.objects.get().responses == 3
    learn(campaign=campaign)
    assert recount_worker_risks(campaign=campaign) == 0


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks the whole database")
@pytest.mark.parametrize(
    ("act", "firsts"), [("judge", 3), ("change", 3), ("withdraw", 2), ("exclude", 1)]
)
def test_a_transaction_that_waits_for_the_check_share_holds_no_check_and_no_task(act, firsts):
    """Raising the share changes checks. A bad first verdict in a trial draws others, and so does
    the discard of a first response, or of one that builds on an excluded worker's."""
    review = {"first": 1, "trial": 3, "share": 0.0}
    campaign, user = CampaignFactory(config={"review": review}), UserFactory()
    first, *_ = write(campaign, WorkerFactory(), 3)
    if act == "change":
        judge(first, "GOOD")
    acts = {
        "judge": lambda: judge(first, "BAD"),
        "change": lambda: change_verdict(
            response=first, verdict="BAD", reason="vague", actor=user, at=NOON
        ),
        "withdraw": lambda: withdraw_responses(
            worker=first.worker, responses=[first.pk], actor=None, at=NOON
        ),
        "exclude": lambda: exclude(campaign, first.worker),
    }

    while_open(
        lambda: locked_sample(campaign),
        acts[act],
        meanwhile=lambda: (
            SpotCheck.objects.select_for_update(nowait=True).get(),
            list(Task.objects.select_for_update(nowait=True)),
        ),
    )

    assert SpotCheck.objects.filter(is_first=True).count() == firsts


@pytest.mark.skipif(connection.vendor == "sqlite", reason="transactions run one by one")
def test_a_check_that_a_raised_share_draws_is_not_taken_back():
    """The judgement made the check, and would take it away again."""
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    reviewer = UserFactory()
    [response] = write(campaign, WorkerFactory())
    judge(response, "GOOD", reviewer)

    while_open(
        lambda: raise_review_share(
            campaign=campaign, share=1.0, seen=0.0, reason="", actor=reviewer, at=NOON
        ),
        lambda: take_back(campaign=campaign, key=response.key, reviewer=reviewer, at=NOON),
    )

    assert SpotCheck.objects.get().is_random


def save_with(**review):
    """Save the only campaign, a draft, with these rules of review."""
    row = Campaign.objects.get()
    file = {**row.config_json, "review": {**row.config_json["review"], **review}}
    draft = begin_draft(owner=UserFactory(), campaign=row, file=file, at=NOON)
    save_draft(draft=draft, endpoint="local", at=NOON)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
def test_a_judgement_that_waits_for_an_edited_draft_follows_its_file(before, after):
    review = NO_REQUIRED_CHECKS | {"reviewers": before}
    campaign = CampaignFactory(status="DRAFT", config={"review": review})
    response, reviewer = ResponseFactory(task__campaign=campaign), UserFactory()

    while_open(
        lambda: save_with(reviewers=after), lambda: judge(response, "GOOD", reviewer=reviewer)
    )

    assert SpotCheck.objects.get().verdict == ("GOOD" if after == 1 else "")


def test_an_exclusion_follows_the_file_of_a_draft_that_was_edited_meanwhile():
    review = NO_REQUIRED_CHECKS | {"discard": "all"}
    campaign = CampaignFactory(status="DRAFT", config={"review": review})
    worker = WorkerFactory()
    first, bad, last = write(campaign, worker, 3)
    judge(bad, "BAD")

    with just_before_lock(lambda: save_with(discard="since_first_bad")):
        exclude(campaign, worker)

    assert list(Response.objects.counting()) == [first]
    assert not last.decisions.filter(act=Act.RESTORE).exists()


def test_the_policy_follows_the_file_of_a_draft_that_was_edited_meanwhile():
    review = NO_REQUIRED_CHECKS | {"policy": "decide"}
    campaign = CampaignFactory(status="DRAFT", config={"review": review})
    responses = write(campaign, WorkerFactory(), 6)
    for response in responses:
        keep_judgement(response=response, verdict="BAD", reason="vague", reviewer=None, at=NOON)
    learn(campaign=campaign)

    with just_before_lock(lambda: save_with(policy="propose")):
        decide(campaign=campaign, at=NOON)

    assert not Exclusion.objects.exists()
    assert campaign.proposals.open().count() == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="transactions run one by one")
@pytest.mark.parametrize(
    ("first", "second", "refusal"),
    [
        (pause, pause, AlreadyPaused),
        (exclude, pause, AlreadyExcluded),
        (exclude, propose, AlreadyExcluded),
        (exclude, exclude, AlreadyExcluded),
    ],
)
def test_the_second_decision_about_a_worker_is_refused(first, second, refusal):
    about = CampaignFactory(), WorkerFactory()

    with pytest.raises(refusal):
        while_open(lambda: first(*about), lambda: second(*about))
