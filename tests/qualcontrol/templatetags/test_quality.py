"""Pictures of estimates."""

import pytest
from django.template import Context, Template

from qualcontrol.queries.workers import WorkerSummary
from qualcontrol.risk.estimate import Estimate
from qualcontrol.templatetags.quality import busiest, moved_by, share_bar


def test_an_interval_lies_where_its_ends_are():
    picture = share_bar("estimate", Estimate(0.05, 0.02, 0.1, 100), 0.1)

    assert (picture["end"], picture["low"], picture["width"]) == (0.5, "4.00", "16.00")
    assert (picture["share"], picture["limit"]) == ("10.00", "20.00")


@pytest.mark.parametrize(("high", "limit"), [(0.6, 0.1), (0.2, 0.7)])
def test_a_picture_reaches_as_far_as_what_it_shows(high, limit):
    assert share_bar("estimate", Estimate(0.1, 0.0, high, 10), limit)["end"] == 1.0


def test_nothing_is_drawn_beyond_the_end_of_a_picture():
    picture = share_bar("estimate", Estimate(1.0, 1.0, 1.0, 10), 1.0)

    assert (picture["low"], picture["share"], picture["limit"]) == ("99.00", "99.00", "99.00")


def test_a_reason_points_to_the_side_to_which_it_moved_the_figure():
    reasons = moved_by(
        [{"sentence": "bad", "effect": 50.0}, {"sentence": "good", "effect": -50.0}]
    )["reasons"]

    assert [(r["raises"], r["start"], r["length"]) for r in reasons] == [
        (True, "50.0", "50.0"),
        (False, "0.0", "50.0"),
    ]


def test_a_picture_has_its_label_for_those_who_do_not_see_it():
    template = Template("{% load quality %}{% share_bar label figure 0.1%}")

    html = template.render(
        Context({"label": "The <estimate>", "figure": Estimate(0.05, 0.02, 0.1, 100)})
    )

    assert 'aria-label="The &lt;estimate&gt;"' in html
    assert "tolerated 10%" in html


def test_the_busiest_workers_bar_is_the_measure_of_all():
    numbers = dict.fromkeys(("discarded", "good", "bad", "risk", "share", "low", "high"), 0)
    workers = [
        WorkerSummary(pseudonym="W", state="active", reasons=[], submitted=submitted, **numbers)
        for submitted in (3, 12, 5)
    ]

    assert busiest(workers) == 12
    assert busiest([]) == 0
