"""The order of a reviewer's items."""

from datetime import timedelta

import pytest

from qualcontrol.models import Reservation, SpotCheck
from qualcontrol.models.checks import RESERVED_FOR
from qualcontrol.review.items import FIRST, MOST_USEFUL, RANDOM, SECOND
from qualcontrol.review.review_queue import SPARE, next_checks
from qualcontrol.risk.estimate import REQUIRED_EVERY, is_required_turn, random_order
from qualcontrol.services.exclusions import exclude_worker
from qualcontrol.services.withdrawals import withdraw_responses
from qualcontrol.services.worker_risks import learn
from tests.factories import NOON, CampaignFactory, UserFactory, WorkerFactory
from tests.qualcontrol.work import NO_REQUIRED_CHECKS, judge, worker_risk_of, write

pytestmark = pytest.mark.django_db


def next_of(campaign, count, reviewer=None, at=NOON, **options):
    learn(campaign=campaign)
    return next_checks(campaign=campaign, reviewer=reviewer, count=count, at=at, **options)


def responses_of(items):
    return [item.response.pk for item in items]


@pytest.fixture
def campaign():
    return CampaignFactory(config={"review": NO_REQUIRED_CHECKS})


def test_the_same_question_without_a_reviewer_has_the_same_answer(campaign):
    write(campaign, WorkerFactory(), 5)

    first = next_of(campaign, 3)
    again = next_of(campaign, 3)

    assert responses_of(first) == responses_of(again)
    assert not Reservation.objects.exists()
    assert not SpotCheck.objects.exists()


def test_an_empty_campaign_has_nothing_to_judge(campaign):
    assert next_of(campaign, 3) == []


def test_every_submitted_response_comes_up_once(campaign):
    responses = [one for _ in range(3) for one in write(campaign, WorkerFactory(), 4)]

    items = next_of(campaign, 20)

    assert sorted(responses_of(items)) == sorted(one.pk for one in responses)


def test_a_response_that_was_judged_while_it_was_reserved_does_not_come_up_again(campaign):
    responses = write(campaign, WorkerFactory(), 2)
    reviewer = UserFactory()
    judge(responses[0], "GOOD")
    # Another reviewer judged it after `next_checks` had read it, and before it was reserved.
    Reservation.objects.create(
        campaign=campaign, response=responses[0], reviewer=reviewer, until=NOON + RESERVED_FOR
    )

    assert responses_of(next_of(campaign, 2, reviewer)) == [responses[1].pk]


def test_workers_who_have_withdrawn_all_keep_no_others_from_the_queue(campaign):
    for leaver in WorkerFactory.create_batch(SPARE + 4):
        gone = [response.pk for response in write(campaign, leaver, 3)]
        withdraw_responses(worker=leaver, responses=gone, actor=None, at=NOON)
    (response,) = write(campaign, WorkerFactory())

    assert responses_of(next_of(campaign, 1)) == [response.pk]


def test_the_first_of_two_reviewers_is_shown_the_responses_of_all_workers():
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "reviewers": 2}})
    for worker in WorkerFactory.create_batch(SPARE + 4):
        write(campaign, worker)
    reviewer, shown = UserFactory(), []

    while items := next_of(campaign, 1, reviewer):
        shown += responses_of(items)
        judge(items[0].response, "GOOD", reviewer=reviewer)

    assert len(set(shown)) == SPARE + 4


def test_a_judged_response_does_not_come_up_again(campaign):
    responses = write(campaign, WorkerFactory(), 3)
    judge(responses[0], "GOOD")
    judge(responses[1], "BAD")

    assert responses_of(next_of(campaign, 5)) == [responses[2].pk]


def test_the_worker_with_bad_verdicts_comes_before_the_others(campaign):
    careful, careless = WorkerFactory.create_batch(2)
    good, bad = write(campaign, careful, 30), write(campaign, careless, 30)
    for response in good[:4]:
        judge(response, "GOOD")
    judge(bad[0], "BAD")

    items = next_of(campaign, 3)

    assert {item.response.worker for item in items} == {careless}
    assert (
        worker_risk_of(campaign, careless).expected_value
        > worker_risk_of(campaign, careful).expected_value
    )


def test_an_excluded_workers_responses_do_not_come_up(campaign):
    worker = WorkerFactory()
    write(campaign, worker, 3)
    exclude_worker(campaign=campaign, worker=worker, reason="lists", actor=None, at=NOON)

    assert next_of(campaign, 5) == []


def test_every_sixth_check_is_required_and_a_third_of_these_are_first_responses():
    # Checks of high expected value come in the random order, too. So more of each sort are drawn
    # than the queue shows, and none runs out, whatever keys the responses get.
    campaign = CampaignFactory(config={"review": {"first": 6, "share": 0.6}, "seed": 5})
    for _ in range(5):
        write(campaign, WorkerFactory(), 20)

    items = next_of(campaign, 4 * REQUIRED_EVERY)

    required = [item.cause for turn, item in enumerate(items) if is_required_turn(turn)]
    assert required == [RANDOM, RANDOM, FIRST, RANDOM]
    others = {item.cause for turn, item in enumerate(items) if not is_required_turn(turn)}
    assert others == {MOST_USEFUL}


def test_required_checks_alone_are_as_many_as_the_campaign_needs_verdicts():
    campaign = CampaignFactory(config={"review": {"first": 2, "share": 0.1}, "seed": 5})
    for _ in range(3):
        write(campaign, WorkerFactory(), 10)
    reviewer = UserFactory()
    next_of(campaign, 4, reviewer)  # some of which are not required

    items = next_of(campaign, 30, reviewer, only_required=True)

    required = set(SpotCheck.objects.of(campaign).open().values_list("response", flat=True))
    assert set(responses_of(items)) == required
    assert len(items) == len(required) < 30
    for item in items:
        judge(item.response, "GOOD")
    assert next_of(campaign, 30, reviewer, only_required=True) == []
    assert next_of(campaign, 30, reviewer) != []


def test_random_checks_come_in_the_random_order():
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1}, "seed": 5})
    write(campaign, WorkerFactory(), 60)

    items = next_of(campaign, 3 * REQUIRED_EVERY)

    drawn = [random_order(5, item.response.pk) for item in items if item.cause == RANDOM]
    assert len(drawn) == 3
    assert drawn == sorted(drawn)


def test_judged_checks_count_as_turns():
    campaign = CampaignFactory(config={"review": {"first": 0, "share": 1}})
    for response in write(campaign, WorkerFactory(), 20)[: REQUIRED_EVERY - 1]:
        judge(response, "GOOD")

    assert [item.cause for item in next_of(campaign, 2)] == [RANDOM, MOST_USEFUL]


def test_two_reviewers_are_shown_different_responses(campaign):
    write(campaign, WorkerFactory(), 6)
    one, other = UserFactory.create_batch(2)

    shown = [set(responses_of(next_of(campaign, 3, reviewer))) for reviewer in (one, other)]

    assert len(shown[0]) == len(shown[1]) == 3
    assert not shown[0] & shown[1]


def test_a_reviewer_is_shown_the_same_until_they_judge_it(campaign):
    write(campaign, WorkerFactory(), 6)
    reviewer = UserFactory()
    first = next_of(campaign, 2, reviewer)

    assert responses_of(next_of(campaign, 2, reviewer)) == responses_of(first)

    judge(first[0].response, "GOOD", reviewer)
    assert responses_of(next_of(campaign, 2, reviewer))[0] == first[1].response.pk


def test_an_item_that_a_reviewer_abandoned_goes_to_another(campaign):
    [response] = write(campaign, WorkerFactory())
    one, other = UserFactory.create_batch(2)
    next_of(campaign, 1, one)

    assert next_of(campaign, 1, other) == []
    assert responses_of(next_of(campaign, 1, other, at=NOON + RESERVED_FOR)) == [response.pk]


def test_a_reservation_of_a_clock_that_was_ahead_does_not_last_until_then(campaign):
    [response] = write(campaign, WorkerFactory())
    one, other = UserFactory.create_batch(2)
    next_of(campaign, 1, one, at=NOON + timedelta(days=1))

    assert responses_of(next_of(campaign, 1, other)) == [response.pk]
    assert Reservation.objects.get().reviewer == other


def test_items_that_a_reviewer_skipped_are_left_out(campaign):
    write(campaign, WorkerFactory(), 2)
    reviewer = UserFactory()
    [skipped] = next_of(campaign, 1, reviewer)

    [item] = next_of(campaign, 1, reviewer, without=[skipped.response.pk])

    assert item.response != skipped.response


def test_a_second_reviewer_is_shown_what_the_first_has_judged():
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "reviewers": 2}})
    write(campaign, WorkerFactory(), 4)
    one, other = UserFactory.create_batch(2)
    [item] = next_of(campaign, 1, one)
    judge(item.response, "GOOD", one)

    [second] = next_of(campaign, 1, other)
    [new] = next_of(campaign, 1, one)

    assert (second.response, second.cause) == (item.response, SECOND)
    assert new.response != item.response


def test_a_disagreement_goes_to_a_third_reviewer_and_to_neither_of_the_two():
    campaign = CampaignFactory(config={"review": {**NO_REQUIRED_CHECKS, "reviewers": 2}})
    [response] = write(campaign, WorkerFactory())
    one, other, third = UserFactory.create_batch(3)
    judge(response, "GOOD", one)
    judge(response, "BAD", other)

    assert next_of(campaign, 1, one) == next_of(campaign, 1, other) == []
    assert responses_of(next_of(campaign, 1, third)) == [response.pk]


def test_an_item_brings_flags_and_the_chance_that_it_is_bad(campaign):
    write(campaign, WorkerFactory(), text="Dog, ball, grass.")

    [item] = next_of(campaign, 1)

    assert "too_short" in {flag["code"] for flag in item.flags}
    assert 0 < item.risk < 1


def test_the_head_of_the_queue_takes_as_many_queries_for_many_workers(
    campaign, django_assert_max_num_queries
):
    for _ in range(12):
        write(campaign, WorkerFactory(), 3)
    reviewer = UserFactory()
    learn(campaign=campaign)

    with django_assert_max_num_queries(20):
        next_checks(campaign=campaign, reviewer=reviewer, count=1, at=NOON + timedelta(hours=1))
