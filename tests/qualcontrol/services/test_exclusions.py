"""Excluding a worker, discarding the responses, and undoing both."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.models import Response, ResponseStatus
from annotate.queries.progress import open_work
from hits.services.claims import recount_places
from qualcontrol.models import Act, Appeal, Decision, Exclusion, SpotCheck
from qualcontrol.review import judging
from qualcontrol.review.judging import reject_response
from qualcontrol.review.undoing import change_verdict, undo_preview
from qualcontrol.services.errors import (
    AlreadyAnswered,
    AlreadyExcluded,
    CannotAppeal,
    NotExcluded,
    ReasonMissing,
)
from qualcontrol.services.exclusions import (
    ExclusionPreview,
    answer_appeal,
    decline_proposal,
    exclude_worker,
    exclusion_preview,
    pause_worker,
    propose_exclusion,
    record_appeal,
    reinstate_worker,
)
from qualcontrol.services.intake import review_submitted
from tests.factories import (
    NOON,
    AssignmentFactory,
    CampaignFactory,
    ResponseFactory,
    SpotCheckFactory,
    TaskFactory,
    UserFactory,
    WorkerFactory,
)
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": {"first": 1, "share": 0}})


@pytest.fixture
def worker():
    return WorkerFactory()


def test_a_pause_that_ends_with_an_exclusion_is_logged(campaign, worker):
    about = {"campaign": campaign, "worker": worker, "actor": UserFactory(), "at": NOON}
    pause_worker(**about, reason="odd hours")

    exclude_worker(**about, reason="keyword lists")

    acts = worker.decisions.order_by("pk").values_list("act", "reason", "actor")
    actor = about["actor"].pk
    assert list(acts) == [
        (Act.PAUSE, "odd hours", actor),
        (Act.EXCLUDE, "keyword lists", actor),
        (Act.RESUME, "worker excluded", actor),
    ]


def test_a_pause_that_ends_with_the_dismissal_of_a_proposal_is_logged(campaign, worker):
    about = {"campaign": campaign, "worker": worker, "at": NOON}
    pause_worker(**about, reason="odd hours", actor=None)
    propose_exclusion(**about, reason="keyword lists")

    decline_proposal(**about, reason="explained", actor=(ada := UserFactory()))

    ended = worker.decisions.get(act=Act.RESUME)
    assert (ended.reason, ended.actor) == ("proposal dismissed", ada)
    assert not campaign.pauses.in_force().exists()


def exclude(campaign, worker):
    return exclude_worker(
        campaign=campaign, worker=worker, reason="keyword lists", actor=None, at=NOON
    )


def reinstate(campaign, worker):
    return reinstate_worker(
        campaign=campaign, worker=worker, actor=None, reason="a mistake", at=NOON
    )


def preview(campaign, worker):
    return exclusion_preview(campaign=campaign, workers=[worker], slot_cost=Decimal("0.12"))


def acts():
    return list(Decision.objects.order_by("pk").values_list("act", flat=True))


def test_exclude_worker_discards_their_responses_in_this_campaign_alone(campaign, worker):
    theirs = ResponseFactory(task__campaign=campaign, worker=worker)
    elsewhere = ResponseFactory(worker=worker)
    of_another = ResponseFactory(task=theirs.task)

    discarded = exclude(campaign, worker)

    assert discarded == 1
    counting = Response.objects.counting().order_by("pk")
    assert list(counting) == [elsewhere, of_another]
    theirs.task.refresh_from_db()
    assert theirs.task.places_left == theirs.task.wanted - 1
    assert acts() == [Act.EXCLUDE, Act.DISCARD]


def test_exclude_worker_closes_their_open_spot_checks_by_state(campaign, worker):
    SpotCheckFactory(response__task__campaign=campaign, response__worker=worker)

    exclude(campaign, worker)

    assert not SpotCheck.objects.open().exists()


def test_exclude_worker_twice_is_refused(campaign, worker):
    exclude(campaign, worker)

    with pytest.raises(AlreadyExcluded):
        exclude(campaign, worker)

    assert Exclusion.objects.count() == 1
    assert acts() == [Act.EXCLUDE]


def test_exclude_worker_needs_a_reason(campaign, worker):
    with pytest.raises(ReasonMissing):
        exclude_worker(campaign=campaign, worker=worker, reason=" ", actor=None, at=NOON)

    assert not Exclusion.objects.exists()


def test_review_submitted_discards_what_an_excluded_worker_sends_later(campaign, worker):
    exclude(campaign, worker)
    late = ResponseFactory(task__campaign=campaign, worker=worker)
    welcome = ResponseFactory(task=late.task)

    review_submitted(campaign=campaign, responses=[late, welcome], at=NOON)

    late.refresh_from_db()
    assert late.status == ResponseStatus.DISCARDED
    assert SpotCheck.objects.get().response == welcome
    assert acts() == [Act.EXCLUDE, Act.DISCARD]


def test_review_submitted_again_changes_nothing(campaign, worker):
    exclude(campaign, worker)
    late = ResponseFactory(task__campaign=campaign, worker=worker)
    welcome = ResponseFactory(task=late.task)
    review_submitted(campaign=campaign, responses=[late, welcome], at=NOON)
    again = list(Response.objects.all())

    review_submitted(campaign=campaign, responses=again, at=NOON)

    assert acts() == [Act.EXCLUDE, Act.DISCARD]
    assert SpotCheck.objects.count() == 1
    late.task.refresh_from_db()
    assert late.task.places_left == late.task.wanted - 1


def test_reinstate_worker_restores_what_the_exclusion_discarded(campaign, worker):
    response = ResponseFactory(task__campaign=campaign, worker=worker)
    exclude(campaign, worker)
    late = ResponseFactory(task__campaign=campaign, worker=worker)
    review_submitted(campaign=campaign, responses=[late], at=NOON)

    restored = reinstate(campaign, worker)

    assert restored == 2
    assert set(Response.objects.counting()) == {response, late}
    assert not Exclusion.objects.in_force().exists()
    assert acts() == [
        Act.EXCLUDE,
        Act.DISCARD,
        Act.DISCARD,
        Act.REINSTATE,
        Act.RESTORE,
        Act.RESTORE,
    ]


def test_reinstate_worker_leaves_what_was_judged_bad_discarded(campaign, worker):
    check = SpotCheckFactory(response__task__campaign=campaign, response__worker=worker)
    judging.judge(response=check.response, verdict="BAD", reason="vague", reviewer=None, at=NOON)
    exclude(campaign, worker)

    assert reinstate(campaign, worker) == 0
    check.response.refresh_from_db()
    assert check.response.status == ResponseStatus.DISCARDED


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [("GOOD", "BAD", ResponseStatus.DISCARDED), ("BAD", "GOOD", ResponseStatus.SUBMITTED)],
)
def test_reinstate_worker_follows_a_verdict_that_was_changed_during_the_exclusion(
    campaign, worker, before, after, status
):
    response = SpotCheckFactory(response__task__campaign=campaign, response__worker=worker).response
    about = {"response": response, "reason": "vague", "at": NOON}
    judging.judge(**about, verdict=before, reviewer=None)
    exclude(campaign, worker)
    change_verdict(**about, verdict=after, actor=UserFactory())

    reinstate(campaign, worker)

    response.refresh_from_db()
    assert response.status == status


def test_reinstate_worker_leaves_what_is_to_be_rejected_discarded(campaign, worker):
    response = ResponseFactory(task__campaign=campaign, worker=worker)
    exclude(campaign, worker)
    reject_response(response=response, reason="Copied.", actor=None, at=NOON)

    assert reinstate(campaign, worker) == 0


def test_reinstate_worker_leaves_the_other_responses_of_a_rejected_assignment(campaign, worker):
    assignment = AssignmentFactory(hit__campaign=campaign)
    theirs = {"task__campaign": campaign, "worker": worker}
    one, other = (ResponseFactory(**theirs, assignment=assignment) for _ in range(2))
    elsewhere = ResponseFactory(**theirs)
    exclude(campaign, worker)
    reject_response(response=one, reason="Copied.", actor=None, at=NOON)

    reinstate(campaign, worker)

    assert list(Response.objects.counting()) == [elsewhere]
    other.refresh_from_db()
    assert "rejection" in undo_preview(other).obstacle


def test_reinstate_worker_leaves_a_response_whose_place_was_filled(campaign, worker):
    task = TaskFactory(campaign=campaign, wanted=1)
    ResponseFactory(task=task, worker=worker)
    exclude(campaign, worker)
    task.refresh_from_db()
    replacement = ResponseFactory(task=task)

    assert reinstate(campaign, worker) == 0
    assert list(Response.objects.counting()) == [replacement]


def test_a_second_reinstatement_leaves_a_response_whose_place_was_filled(campaign, worker):
    task = TaskFactory(campaign=campaign, wanted=1)
    first = ResponseFactory(task=task, worker=worker)
    exclude(campaign, worker)
    task.refresh_from_db()
    replacement = ResponseFactory(task=task)
    reinstate(campaign, worker)
    second = ResponseFactory(task__campaign=campaign, worker=worker)
    exclude(campaign, worker)

    assert reinstate(campaign, worker) == 1
    first.refresh_from_db()
    assert first.status == ResponseStatus.DISCARDED
    assert set(Response.objects.counting()) == {replacement, second}


def test_an_exclusion_in_several_lots_is_one_exclusion(campaign, worker, monkeypatch):
    monkeypatch.setattr("shared.database.transactions.BATCH", 2)
    written = [ResponseFactory(task__campaign=campaign, worker=worker) for _ in range(5)]
    ResponseFactory(task=written[0].task)

    assert exclude(campaign, worker) == 5
    assert Response.objects.counting().count() == 1
    discards = Decision.objects.filter(act=Act.DISCARD).order_by("response")
    assert list(discards.values_list("response", flat=True)) == [one.pk for one in written]
    assert recount_places(campaign) == 0

    assert reinstate(campaign, worker) == 5
    assert Response.objects.counting().count() == 6
    assert Decision.objects.filter(act=Act.RESTORE).count() == 5
    assert recount_places(campaign) == 0


def test_the_queries_do_not_grow_with_what_the_worker_wrote(campaign):
    few, many = WorkerFactory(), WorkerFactory()
    for worker, count in ((few, 2), (many, 20)):
        for _ in range(count):
            ResponseFactory(task__campaign=campaign, worker=worker)

    def queries(act, worker):
        with CaptureQueriesContext(connection) as queries:
            act(campaign, worker)
        return len(queries)

    for act in (preview, exclude, reinstate):
        assert queries(act, few) == queries(act, many)
    assert Response.objects.counting().count() == 22


def test_reinstate_worker_draws_the_checks_of_what_came_during_the_exclusion(worker):
    campaign = CampaignFactory(config={"review": {"first": 1, "share": 1.0}})
    exclude(campaign, worker)
    write(campaign, worker, 2)
    assert not SpotCheck.objects.exists()

    reinstate(campaign, worker)

    assert SpotCheck.objects.filter(is_random=True).count() == 2
    assert SpotCheck.objects.filter(is_first=True).count() == 1


def test_reinstate_worker_draws_the_checks_of_what_breaks_the_rules(worker):
    campaign = CampaignFactory(config={"review": NO_REQUIRED_CHECKS})
    exclude(campaign, worker)
    bad, good = (ResponseFactory(task__campaign=campaign, worker=worker) for _ in range(2))
    problems = {bad.pk: ["The caption is too short."]}
    review_submitted(campaign=campaign, responses=[bad, good], at=NOON, problems=problems)

    reinstate(campaign, worker)

    assert SpotCheck.objects.get().response == bad


def test_reinstate_worker_who_is_not_excluded_is_refused(campaign, worker):
    with pytest.raises(NotExcluded):
        reinstate(campaign, worker)

    assert not Decision.objects.exists()


def test_exclusion_preview_counts_what_the_exclusion_then_discards(campaign, worker):
    for _ in range(3):
        ResponseFactory(task__campaign=campaign, worker=worker)
    full = TaskFactory(campaign=campaign, wanted=1)
    ResponseFactory(task=full, worker=worker)
    ResponseFactory(task=full)
    ResponseFactory(worker=worker)
    SpotCheckFactory(response__task__campaign=campaign, response__worker=worker)

    found = preview(campaign, worker)

    # One task had an answer more than it wanted, and does not reopen.
    assert found == ExclusionPreview(
        responses=5, tasks_reopened=4, open_spot_checks=1, slots=4, cost=Decimal("0.48")
    )
    assert exclude(campaign, worker) == found.responses


@pytest.mark.parametrize("surplus", [0, 1, 2])
def test_exclusion_preview_of_several_workers_counts_what_is_missing_after_them(campaign, surplus):
    task = TaskFactory(campaign=campaign, wanted=3)
    workers = [ResponseFactory(task=task).worker for _ in range(3 + surplus)][:2]

    found = exclusion_preview(campaign=campaign, workers=workers, slot_cost=Decimal("0.12"))
    for worker in workers:
        exclude(campaign, worker)

    assert (found.tasks_reopened, found.slots) == (int(surplus < 2), 2 - surplus)
    assert open_work(campaign).missing == found.slots


def test_exclusion_preview_counts_slots_of_several_images(worker):
    campaign = CampaignFactory(config={"hit": {"images": 3}})
    for _ in range(4):
        ResponseFactory(task__campaign=campaign, worker=worker)

    found = exclusion_preview(campaign=campaign, workers=[worker], slot_cost=Decimal("0.60"))

    assert (found.slots, found.cost) == (2, Decimal("1.20"))


@pytest.fixture
def proposing():
    return CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "policy": "propose"}})


@pytest.fixture
def excluded(proposing):
    excluded = WorkerFactory()
    write(proposing, excluded, 3)
    exclude_worker(campaign=proposing, worker=excluded, reason="lists", actor=None, at=NOON)
    return excluded


def enter(proposing, excluded, text="I wrote each of them myself."):
    return record_appeal(
        campaign=proposing, worker=excluded, text=text, actor=UserFactory(), at=NOON
    )


def answer(appeal, *, is_granted, text="We have looked at them again."):
    return answer_appeal(
        appeal=appeal, is_granted=is_granted, answer=text, actor=UserFactory(), at=NOON
    )


def test_a_granted_appeal_undoes_the_exclusion(proposing, excluded):
    assert answer(enter(proposing, excluded), is_granted=True) == 3

    assert not proposing.exclusions.in_force().exists()
    assert Response.objects.counting().count() == 3
    assert Appeal.objects.get().is_granted
    acts = Decision.objects.filter(worker=excluded, response=None).order_by("pk")
    assert list(acts.values_list("act", flat=True)) == [
        Act.EXCLUDE,
        Act.APPEAL,
        Act.ANSWER,
        Act.REINSTATE,
    ]


def test_an_appeal_that_is_not_granted_leaves_the_exclusion(proposing, excluded):
    assert answer(enter(proposing, excluded), is_granted=False) == 0

    assert proposing.exclusions.in_force().exists()
    assert not Appeal.objects.open().exists()


def test_an_appeal_is_answered_once(proposing, excluded):
    appeal = enter(proposing, excluded)
    answer(appeal, is_granted=False)

    with pytest.raises(AlreadyAnswered):
        answer(appeal, is_granted=True)

    assert proposing.exclusions.in_force().exists()


def test_an_appeal_needs_an_exclusion_and_waits_for_its_answer(proposing, excluded):
    with pytest.raises(CannotAppeal):
        enter(proposing, WorkerFactory())
    enter(proposing, excluded)
    with pytest.raises(CannotAppeal):
        enter(proposing, excluded)

    assert Appeal.objects.count() == 1


def test_an_appeal_needs_words_and_so_does_its_answer(proposing, excluded):
    with pytest.raises(ReasonMissing):
        enter(proposing, excluded, text=" ")
    appeal = enter(proposing, excluded)
    with pytest.raises(ReasonMissing):
        answer(appeal, is_granted=True, text="")

    assert Appeal.objects.open().get() == appeal


def test_an_appeal_against_an_earlier_exclusion_leaves_the_present_one(proposing, excluded):
    about = {"campaign": proposing, "worker": excluded, "actor": None, "at": NOON}
    appeal = enter(proposing, excluded)
    reinstate_worker(**about, reason="a mistake")
    exclude_worker(**about, reason="copies of others")

    assert answer(appeal, is_granted=True) == 0

    assert proposing.exclusions.in_force().get().reason == "copies of others"
    assert not Response.objects.counting().exists()


judgements = st.lists(st.sampled_from(["GOOD", "BAD", ""]), min_size=5, max_size=5)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(judgements=judgements, discard=st.sampled_from(["all", "since_first_bad"]))
def test_undoing_an_exclusion_restores_exactly(judgements, discard):
    review = {**NO_REQUIRED_CHECKS, "policy": "propose", "discard": discard}
    proposing, excluded = CampaignFactory(config={"review": review}), WorkerFactory()
    about = {"campaign": proposing, "worker": excluded, "actor": None, "at": NOON}
    for response, verdict in zip(write(proposing, excluded, 5), judgements, strict=True):
        if verdict:
            judge(response, verdict)
    before = _state(proposing)

    exclude_worker(**about, reason="lists")
    reinstate_worker(**about, reason="a mistake")

    assert _state(proposing) == before


def _state(proposing):
    return (
        list(Response.objects.of(proposing).order_by("pk").values_list("pk", "status")),
        list(proposing.tasks.order_by("pk").values_list("pk", "places_left")),
        list(proposing.spot_checks.order_by("pk").values_list("response", "verdict")),
    )
