"""A campaign's statistics, and the estimate of the remaining time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from annotate.models import ImportedFile, ResponseStatus
from hits.pages.campaigns import course_path
from hits.queries.statistics import (
    MOST_STEPS,
    Hour,
    Moment,
    measured_pay,
    responses_per_hour,
    responses_so_far,
    time_left,
)
from tests.factories import NOON, CampaignFactory, ResponseFactory, TaskFactory

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def task(db):
    return TaskFactory(campaign=CampaignFactory())


def hours(*numbers: int) -> list[Hour]:
    return [Hour(NOON + place * HOUR, number) for place, number in enumerate(numbers)]


def test_responses_add_up_by_the_hour(task):
    for minutes in (5, 50, 130):
        ResponseFactory(task=task, submitted_at=NOON + timedelta(minutes=minutes))
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
        ResponseFactory(task=task, submitted_at=NOON + days * DAY)

    found = responses_so_far(task.campaign, at=NOON + 9 * DAY + HOUR)

    assert [moment.responses for moment in found] == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3]
    assert found[-1].at == NOON + 9 * DAY + HOUR


@pytest.mark.parametrize(
    "first", [datetime(2, 2, 22, tzinfo=UTC), datetime(2005, 1, 1, tzinfo=UTC)]
)
def test_a_response_of_any_date_gives_a_few_hundred_moments_and_every_response_is_in(task, first):
    for at in (first, NOON - DAY, NOON):
        ResponseFactory(task=task, submitted_at=at)

    found = responses_so_far(task.campaign, at=NOON + HOUR)

    assert 100 < len(found) <= MOST_STEPS + 1
    assert (found[0].at, found[-1]) == (first, Moment(NOON + HOUR, 3))
    assert all(a.at < b.at for a, b in pairwise(found))


def test_responses_dated_in_the_future_are_in_the_last_moment(task):
    ResponseFactory(task=task, submitted_at=NOON)
    ResponseFactory(task=task, submitted_at=NOON + 4000 * DAY)

    found = responses_so_far(task.campaign, at=NOON + HOUR)

    assert found == [Moment(NOON, 0), Moment(NOON + HOUR, 2)]


def test_a_campaign_whose_only_response_is_dated_in_the_future_has_a_chart(task):
    ResponseFactory(task=task, submitted_at=NOON + DAY)

    found = responses_so_far(task.campaign, at=NOON)

    assert [moment.responses for moment in found] == [0, 1]
    assert course_path(found, wanted=4) == "M0.00 100.00L0.00 75.00"


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


def test_an_import_is_not_the_pace_of_the_workers(task):
    at = NOON + timedelta(minutes=30)
    file = ImportedFile.objects.create(name="captions.csv", at=NOON)
    for _ in range(3):
        ResponseFactory(task=task, submitted_at=NOON - 2 * HOUR, imported_from=file)
    ResponseFactory(task=task, submitted_at=NOON - HOUR)

    found = responses_per_hour(task.campaign, at=at, hours=4)

    assert [hour.responses for hour in found] == [0, 0, 1, 0]
    assert time_left(found, missing=6) == timedelta(hours=6)


def test_the_times_of_imported_captions_do_not_count_as_paid_time(task):
    file = ImportedFile.objects.create(name="captions.csv", at=NOON)
    ResponseFactory(task=task, seconds=1, imported_from=file)

    assert measured_pay(task.campaign) is None


def test_a_single_response_is_all_that_is_known_of_pay(task):
    ResponseFactory(task=task, seconds=40)

    pay = measured_pay(task.campaign)

    assert pay.low == pay.per_hour == pay.high == Decimal("9.00")


def test_two_responses_pay_no_more_than_the_faster_and_no_less_than_the_slower(task):
    for seconds in (10, 50):
        ResponseFactory(task=task, seconds=seconds)

    pay = measured_pay(task.campaign)

    assert (pay.low, pay.per_hour, pay.high) == (
        Decimal("7.20"),
        Decimal("12.00"),
        Decimal("36.00"),
    )


@pytest.mark.django_db
def test_responses_per_hour_counts_each_whole_hour():
    campaign = CampaignFactory()
    for minutes in (0, 30, 59, 61, 60 * 30):
        ResponseFactory(
            task__campaign=campaign,
            submitted_at=NOON.replace(minute=59) - timedelta(minutes=minutes),
        )
    ResponseFactory(submitted_at=NOON)

    hours = responses_per_hour(campaign, at=NOON.replace(minute=59), hours=3)

    assert [(hour.begins_at.hour, hour.responses) for hour in hours] == [(10, 0), (11, 1), (12, 3)]


@pytest.mark.django_db
def test_measured_pay_is_at_the_median_pace_of_an_image():
    campaign = CampaignFactory(config={"hit": {"images": 2, "reward": "0.20"}})
    for seconds in (10, 60, 3600):
        ResponseFactory(task__campaign=campaign, seconds=seconds)
    ResponseFactory(task__campaign=campaign, seconds=None)

    pay = measured_pay(campaign)

    assert (pay.median_seconds, pay.per_hour) == (60, Decimal("6.00"))


@pytest.mark.django_db
def test_measured_pay_is_unknown_before_the_first_response():
    assert measured_pay(CampaignFactory()) is None
