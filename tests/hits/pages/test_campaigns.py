"""The data of the dashboard's charts."""

from datetime import timedelta
from decimal import Decimal

import pytest

from hits.pages.campaigns import bars, course_path, hour_bars, pay_chart
from hits.queries.statistics import Hour, Moment, Pay
from tests.factories import NOON


def pay(*each: float) -> Pay:
    middle = Decimal(str(sorted(each)[len(each) // 2]))
    return Pay(40, middle, middle, middle, list(each))


def test_the_highest_bar_is_as_high_as_the_chart():
    drawn = bars([2, 0, 4], ["two", "none", "four"])

    assert [bar.height for bar in drawn] == [50, 0, 100]
    assert [bar.y for bar in drawn] == [50, 100, 0]
    assert drawn[-1].x + drawn[-1].width <= 100


def test_an_hours_bar_says_when_it_was_and_how_many():
    (bar,) = hour_bars([Hour(NOON, 7)])

    assert bar.title == "2 Nov, 12:00 UTC: 7"


def test_a_course_goes_from_nothing_to_what_there_is_of_what_is_wanted():
    moments = [
        Moment(NOON, 0),
        Moment(NOON + timedelta(hours=1), 10),
        Moment(NOON + timedelta(hours=4), 30),
    ]

    assert course_path(moments, wanted=40) == "M0.00 100.00L25.00 75.00L100.00 25.00"
    assert course_path([], wanted=40) == ""


def test_more_than_is_wanted_stays_within_the_chart():
    moments = [Moment(NOON, 0), Moment(NOON + timedelta(hours=1), 50)]

    assert course_path(moments, wanted=40).endswith("100.00 0.00")


def test_every_response_is_in_a_bar_of_what_it_pays():
    drawn = pay_chart(pay(6.5, 7.5, 7.6, 9.0, 9.9))

    assert drawn.end == 10
    assert [bar.title for bar in drawn.bars if bar.height] == [
        "$6 to $7 an hour: 1",
        "$7 to $8 an hour: 2",
        "$9 an hour and more: 2",
    ]
    assert drawn.median == 76.0


@pytest.mark.parametrize("largest", [3.0, 90.0, 360.0, 12_345.0])
def test_a_chart_of_pay_has_few_bars_whatever_is_paid(largest):
    drawn = pay_chart(pay(*[largest] * 40, largest * 50))

    assert 1 <= len(drawn.bars) <= 16
    assert largest < drawn.end
    assert drawn.bars[-1].title.endswith("an hour and more: 41")
