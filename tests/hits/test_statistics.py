"""How a campaign's responses add up, and how long the rest takes."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotate.models import ResponseStatus
from hits.statistics import Hour, Moment, measured_pay, responses_so_far, time_left
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def task(db):
    return TaskFactory(campaign=CampaignFactory())


def hours(*numbers: int) -> list[Hour]:
    return [Hour(NOON + place * HOUR, number) for place, number in enumerate(numbers)]


def test_responses_add_up_by_the_hour(task):
    for minutes in (5, 50, 130):
        ResponseFactory(task=task, stored_at=NOON + timedelta(minutes=minutes))
    ResponseFactory(task=task, status=ResponseStatus.DISCARDED)
    ResponseFactory()

    found = responses_so_far(task.campaign, at=NOON + timedelta(minutes=150))

    assert found == [
        Moment(NOON, 0),
        Moment(NOON + HOUR, 2),
        Moment(NOON + 2 * HOUR, 2),
        Moment(NOON + timedelta(minutes=150), 3),
    ]


def test_responses_of_a_long_campaign_add_up_by_the_day(task):
    for days in (0, 1, 9):
        ResponseFactory(task=task, stored_at=NOON + days * DAY)

    found = responses_so_far(task.campaign, at=NOON + 9 * DAY + HOUR)

    assert [moment.responses for moment in found] == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3]
    assert found[-1].at == NOON + 9 * DAY + HOUR


def test_nothing_adds_up_before_the_first_response(task):
    assert responses_so_far(task.campaign, at=NOON) == []


def test_the_rest_takes_as_long_as_the_pace_since_the_work_began_says():
    assert time_left(hours(0, 0, 10, 30, 0), missing=60) == timedelta(hours=3)


@pytest.mark.parametrize("numbers", [(0, 0, 0), (0, 0, 5), (5,)])
def test_a_pace_is_unknown_before_an_hour_of_work_is_over(numbers):
    assert time_left(hours(*numbers), missing=60) is None


def test_half_of_the_responses_pay_between_the_quarters(task):
    for seconds in (10, 20, 30, 40, 50, 60, 70):
        ResponseFactory(task=task, seconds=seconds)

    pay = measured_pay(task.campaign)

    assert pay.per_hour == Decimal("9.00")
    assert (pay.low, pay.high) == (Decimal("6.00"), Decimal("18.00"))
    assert len(pay.each) == 7


def test_a_single_response_is_all_that_is_known_of_pay(task):
    ResponseFactory(task=task, seconds=40)

    pay = measured_pay(task.campaign)

    assert pay.low == pay.per_hour == pay.high == Decimal("9.00")
