"""The trial: a new worker's first responses are judged before the worker gets more tasks."""

import pytest
from django.urls import reverse

from annotate.kinds.campaign_files import CampaignFileError, parse_config
from qualcontrol.models import Act, Decision, SpotCheck, kept_out, waiting_for_verdicts
from qualcontrol.review.review_queue import next_checks
from qualcontrol.review.undoing import change_verdict, take_back
from qualcontrol.services.exclusions import exclude_worker, reinstate_worker, resume_worker
from qualcontrol.services.policies import decide
from qualcontrol.services.withdrawals import withdraw_responses
from qualcontrol.services.worker_risks import learn
from tests.factories import NOON, CampaignFactory, ResponseFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import judge, state_of, write

pytestmark = pytest.mark.django_db


def make_campaign(**review):
    return CampaignFactory(config={"review": {"share": 0, "first": 1, "trial": 3, **review}})


@pytest.fixture
def campaign():
    return make_campaign()


@pytest.fixture
def worker():
    return WorkerFactory()


def may_write(campaign, worker):
    return not kept_out(campaign).filter(pk=worker.pk).exists()


def firsts(campaign):
    """The responses drawn as first ones, in the order of submission."""
    checks = SpotCheck.objects.of(campaign).filter(is_first=True).order_by("response")
    return [check.response for check in checks]


@pytest.mark.parametrize(("first", "trial"), [(0, 3), (4, 3)])
def test_the_first_responses_are_within_the_trial(first, trial):
    review = {"first": first, "trial": trial}

    with pytest.raises(CampaignFileError, match="at least 1 and at most trial"):
        parse_config({"name": "a", "selection": "b", "budget": 1, "review": review})


def test_a_worker_writes_as_many_as_the_trial_has_and_then_waits(campaign, worker):
    write(campaign, worker, 2)
    assert may_write(campaign, worker)

    write(campaign, worker)

    assert not may_write(campaign, worker)
    assert state_of(campaign, worker) == "waiting"
    assert list(waiting_for_verdicts(campaign)) == [worker]


def test_an_excluded_worker_does_not_wait_for_verdicts(campaign, worker):
    write(campaign, worker, 3)

    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=UserFactory(), at=NOON)

    assert not waiting_for_verdicts(campaign).exists()
    assert not may_write(campaign, worker)


def test_a_worker_whose_first_response_is_good_continues_at_once_and_for_good(campaign, worker):
    first, *_ = write(campaign, worker, 3)

    judge(first, "GOOD")

    assert may_write(campaign, worker)
    write(campaign, worker, 3)
    assert may_write(campaign, worker)
    assert firsts(campaign) == [first]


def test_a_worker_who_is_judged_in_time_never_waits(campaign, worker):
    judge(write(campaign, worker)[0], "GOOD")

    write(campaign, worker, 5)

    assert may_write(campaign, worker)


def test_without_a_trial_nobody_waits(worker):
    campaign = make_campaign(trial=0)

    judge(write(campaign, worker, 5)[0], "BAD")

    assert may_write(campaign, worker)
    assert len(firsts(campaign)) == 1


def test_a_bad_first_response_has_the_whole_trial_judged(campaign, worker):
    responses = write(campaign, worker, 2)
    judge(responses[0], "BAD")

    responses += write(campaign, worker, 3)

    assert firsts(campaign) == responses[:3]
    assert not may_write(campaign, worker)


def undo_by_taking_back(response, reviewer):
    take_back(campaign=response.campaign, key=response.key, reviewer=reviewer, at=NOON)


def undo_by_a_change(response, reviewer):
    change_verdict(response=response, verdict="GOOD", reason="fine", actor=reviewer, at=NOON)


def test_after_the_trial_a_verdict_in_it_that_is_taken_back_is_not_needed(campaign, worker):
    first, second, _ = write(campaign, worker, 3)
    ada = UserFactory()
    judge(first, "BAD", ada)
    judge(second, "GOOD", ada)
    undo_by_a_change(first, ada)

    undo_by_taking_back(second, ada)

    assert firsts(campaign) == [first]


@pytest.mark.parametrize("undo", [undo_by_taking_back, undo_by_a_change])
def test_a_first_response_that_is_bad_no_longer_needs_no_further_verdicts(campaign, worker, undo):
    first, second, third = write(campaign, worker, 3)
    reviewer = UserFactory()
    judge(first, "BAD", reviewer)
    judge(second, "GOOD")
    assert firsts(campaign) == [first, second, third]

    undo(first, reviewer)

    assert firsts(campaign) == [first, second]
    assert not SpotCheck.objects.filter(response=third).exists()
    if undo is undo_by_a_change:
        assert may_write(campaign, worker)


def test_a_random_check_stays_when_the_trial_ends(worker):
    campaign, reviewer = make_campaign(share=1), UserFactory()
    first, *_ = write(campaign, worker, 3)
    judge(first, "BAD", reviewer)

    undo_by_taking_back(first, reviewer)

    assert firsts(campaign) == [first]
    assert campaign.spot_checks.count() == 3


def test_a_random_check_within_the_trial_is_judged_as_one_of_the_first(worker):
    campaign = make_campaign(share=1)
    responses = write(campaign, worker, 4)

    judge(responses[0], "BAD")

    assert firsts(campaign) == responses[:3]
    assert all(check.is_random for check in campaign.spot_checks.all())


def test_one_bad_response_is_forgiven(campaign, worker):
    responses = write(campaign, worker, 3)

    for response, verdict in zip(responses, ["BAD", "GOOD", "GOOD"], strict=True):
        judge(response, verdict)

    assert may_write(campaign, worker)
    assert state_of(campaign, worker) == "active"


@pytest.mark.parametrize("pause_certainty", [0.8, 1])
def test_a_worker_with_more_bad_ones_is_paused_for_a_person_to_decide(worker, pause_certainty):
    campaign = make_campaign(pause_certainty=pause_certainty)
    responses = write(campaign, worker, 3)

    for response, verdict in zip(responses, ["BAD", "BAD", "GOOD"], strict=True):
        judge(response, verdict)

    assert state_of(campaign, worker) == "paused"
    line = Decision.objects.get(act=Act.PAUSE)
    assert (line.actor, line.reason) == (
        None,
        "2 of the worker's first 2 judged responses are bad",
    )
    responses[2].refresh_from_db()
    assert responses[2].status == "SUBMITTED"


def test_a_worker_whose_pause_a_person_ended_is_paused_again_only_after_another_bad_one(
    campaign, worker
):
    responses = write(campaign, worker, 3)
    for response in responses[:2]:
        judge(response, "BAD")
    resume_worker(campaign=campaign, worker=worker, reason="new", actor=UserFactory(), at=NOON)

    assert decide(campaign=campaign, at=NOON) == 0
    assert state_of(campaign, worker) == "waiting"

    judge(responses[2], "BAD")
    assert state_of(campaign, worker) in {"paused", "excluded"}


def test_a_reinstated_worker_does_not_wait_for_what_was_not_restored(campaign, worker):
    responses = write(campaign, worker, 3)
    about = {"campaign": campaign, "worker": worker, "actor": UserFactory(), "at": NOON}
    exclude_worker(**about, reason="lists")
    for response in responses:
        ResponseFactory.create_batch(response.task.wanted, task=response.task)

    reinstate_worker(**about, reason="a mistake")

    assert state_of(campaign, worker) == "active"


def test_the_next_response_takes_the_place_of_a_first_one_that_is_withdrawn_unjudged(
    campaign, worker
):
    first, second, *_ = write(campaign, worker, 3)
    withdraw = {"worker": worker, "actor": None, "at": NOON}

    withdraw_responses(**withdraw, responses=[first.pk])

    assert firsts(campaign) == [first, second]
    assert not may_write(campaign, worker)
    judge(second, "GOOD")
    assert may_write(campaign, worker)
    withdraw_responses(**withdraw, responses=[second.pk])
    assert firsts(campaign) == [first, second]


def test_a_bad_response_that_takes_the_place_of_a_withdrawn_one_has_the_whole_trial_judged(
    campaign, worker
):
    responses = write(campaign, worker, 5)
    judge(responses[1], "BAD")

    withdraw_responses(worker=worker, responses=[responses[0].pk], actor=None, at=NOON)

    assert firsts(campaign) == responses[:4]


def test_another_response_takes_the_place_of_a_withdrawn_one_whose_verdict_is_taken_back(
    campaign, worker
):
    first, second, *_ = write(campaign, worker, 3)
    ada = UserFactory()
    judge(first, "GOOD", ada)
    withdraw_responses(worker=worker, responses=[first.pk], actor=None, at=NOON)
    assert firsts(campaign) == [first]

    take_back(campaign=campaign, key=first.key, reviewer=ada, at=NOON)

    assert firsts(campaign) == [first, second]


def test_a_later_response_takes_the_place_of_a_first_one_that_is_withdrawn_unjudged(
    campaign, worker
):
    [first] = write(campaign, worker)
    withdraw_responses(worker=worker, responses=[first.pk], actor=None, at=NOON)

    later = write(campaign, worker, 2)

    assert firsts(campaign) == [first, later[0]]
    assert not may_write(campaign, worker)


def test_reviewers_are_shown_first_what_workers_wait_for(campaign):
    early, waiting, known = WorkerFactory.create_batch(3)
    judge(write(campaign, known, 20)[0], "GOOD")
    [of_early] = write(campaign, early)
    of_waiting, *_ = write(campaign, waiting, 3)
    learn(campaign=campaign)

    items = next_checks(campaign=campaign, reviewer=UserFactory(), count=3, at=NOON)

    assert [item.response for item in items[:2]] == [of_waiting, of_early]
    assert items[2].response.worker == known


def test_the_quality_page_says_who_waits_and_what_the_trial_is(client, reviewer, worker):
    campaign = CampaignFactory(
        slug="pilot", config={"review": {"share": 0, "first": 2, "trial": 3}}
    )
    write(campaign, worker, 3)

    page = client.get(reverse("qualcontrol:quality", args=["pilot"])).content.decode()

    assert "1 worker waits until their first captions are judged" in page
    assert "A new worker gets 3 tasks until their first 2 are judged." in page
    workers = client.get(reverse("qualcontrol:workers", args=["pilot"])).content.decode()
    assert "Waits for verdicts" in workers


def test_a_first_response_whose_verdict_is_changed_to_bad_draws_the_rest(campaign, worker):
    first, *rest = write(campaign, worker, 3)
    judge(first, "GOOD")

    change_verdict(response=first, verdict="BAD", reason="odd", actor=UserFactory(), at=NOON)

    assert firsts(campaign) == [first, *rest]
    assert not may_write(campaign, worker)


def test_a_bad_response_that_was_found_before_the_first_verdict_counts_in_the_trial(
    campaign, worker
):
    responses = write(campaign, worker, 3)

    judge(responses[1], "BAD")
    judge(responses[0], "BAD")

    assert firsts(campaign) == responses
    assert state_of(campaign, worker) == "paused"


def test_a_reinstated_worker_whose_first_response_was_changed_to_bad_has_the_whole_trial_judged(
    worker,
):
    campaign, reviewer = make_campaign(share=1), UserFactory()
    first, *rest = write(campaign, worker, 3)
    judge(first, "GOOD")
    about = {"campaign": campaign, "worker": worker, "reason": "lists", "actor": reviewer}
    exclude_worker(**about, at=NOON)
    change_verdict(response=first, verdict="BAD", reason="vague", actor=reviewer, at=NOON)

    reinstate_worker(**about, at=NOON)

    assert firsts(campaign) == [first, *rest]
    assert list(waiting_for_verdicts(campaign)) == [worker]
