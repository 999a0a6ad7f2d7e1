"""The metric: the paper's example, general properties, and a second implementation."""

from fractions import Fraction
from itertools import combinations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.content_selection.metric import (
    Score,
    boxes_per_description,
    human_upper_bound,
    score_image,
    score_images,
)
from corpora.errors import DomainError

# Figure 2: woman and car are in all seven descriptions, boots in four, the dress in two.
FIGURE_2 = [
    frozenset(description)
    for description in (
        {"woman", "car"},
        {"woman", "car"},
        {"woman", "car", "boots"},
        {"woman", "car", "boots"},
        {"woman", "car", "boots"},
        {"woman", "car", "boots", "dress"},
        {"woman", "car", "dress"},
    )
]

ROUNDING = 1e-12

box_ids = st.sampled_from("abcdefgh")
selections = st.frozensets(box_ids)
mentions = st.frozensets(box_ids, min_size=1)
description_lists = st.lists(selections, min_size=1, max_size=5)
golds = st.dictionaries(st.sampled_from("1234"), st.lists(selections, max_size=5), max_size=4)


def plain_mean(values):
    values = list(values)
    return sum(values) / Fraction(len(values))


def plain_score(selected, descriptions):
    """Equations 1 to 3 in exact fractions, written as in the paper."""
    precision = plain_mean(
        Fraction(sum(box in description for box in selected), max(len(selected), 1))
        for description in descriptions
    )
    recall = plain_mean(
        Fraction(sum(box in selected for box in description), max(len(description), 1))
        for description in descriptions
    )
    f = 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)
    return precision, recall, f


def test_figure_2_rewards_what_most_people_mention():
    woman_and_car = score_image(frozenset({"woman", "car"}), FIGURE_2)
    woman_and_dress = score_image(frozenset({"woman", "dress"}), FIGURE_2)

    assert woman_and_car.precision == 1
    assert woman_and_dress.precision == pytest.approx((7 + 2) / (2 * 7))
    assert woman_and_car > woman_and_dress
    assert woman_and_car.f > woman_and_dress.f


def test_figure_2_ranks_pairs_by_how_often_they_are_mentioned():
    times = {"woman": 7, "car": 7, "boots": 4, "dress": 2}
    by_mentions = sorted(
        combinations(times, 2), key=lambda pair: times[pair[0]] + times[pair[1]], reverse=True
    )

    precisions = [score_image(frozenset(pair), FIGURE_2).precision for pair in by_mentions]

    assert precisions == sorted(precisions, reverse=True)


@given(selections, description_lists)
def test_the_score_is_that_of_the_written_out_equations(selected, descriptions):
    score = score_image(selected, descriptions)

    assert score == pytest.approx(tuple(map(float, plain_score(selected, descriptions))))


@given(selections, description_lists)
def test_scores_lie_between_0_and_1(selected, descriptions):
    score = score_image(selected, descriptions)

    assert all(0 <= measure <= 1 for measure in score)


@given(selections, description_lists)
def test_f_lies_between_precision_and_recall(selected, descriptions):
    precision, recall, f = score_image(selected, descriptions)

    assert min(precision, recall) - ROUNDING <= f <= max(precision, recall) + ROUNDING


@given(mentions, st.integers(1, 5))
def test_a_selection_equal_to_every_description_scores_1(mentioned, times):
    assert score_image(mentioned, [mentioned] * times) == Score(1, 1, 1)


@given(selections, description_lists)
def test_a_selection_disjoint_from_every_description_scores_0(selected, descriptions):
    apart = [description - selected for description in descriptions]

    assert score_image(selected, apart) == Score(0, 0, 0)


@given(selections, description_lists, st.randoms())
def test_the_order_of_descriptions_changes_nothing(selected, descriptions, chance):
    shuffled = chance.sample(descriptions, len(descriptions))

    assert score_image(selected, shuffled) == score_image(selected, descriptions)


@given(mentions, mentions)
def test_precision_and_recall_change_places_with_selection_and_description(one, other):
    there, back = score_image(one, [other]), score_image(other, [one])

    assert there == Score(back.recall, back.precision, back.f)


@given(mentions, description_lists, box_ids)
def test_selecting_one_box_more_never_lowers_recall(selected, descriptions, box):
    fewer, more = (score_image(boxes, descriptions) for boxes in (selected, selected | {box}))

    assert more.recall >= fewer.recall


def test_a_description_without_boxes_adds_nothing_to_both_means():
    box = frozenset("a")

    assert score_image(box, [box, frozenset()]) == Score(0.5, 0.5, 0.5)
    assert score_image(frozenset(), [frozenset()]) == Score(0, 0, 0)


def test_every_image_counts_the_same_however_many_descriptions_it_has():
    gold = {"1": [frozenset("a")] * 9, "2": [frozenset("b")]}

    score = score_images(gold, {"1": frozenset("a"), "2": frozenset("c")})

    assert score.mean == Score(0.5, 0.5, 0.5)


def test_f_is_the_mean_of_the_images_f():
    gold = {"1": [frozenset("ab")], "2": [frozenset("a")]}

    score = score_images(gold, {"1": frozenset("a"), "2": frozenset("ab")})

    assert score.mean == pytest.approx((0.75, 0.75, 2 / 3))


def test_the_deviation_is_that_of_the_images_scores():
    gold = {"1": [frozenset("a")], "2": [frozenset("a")], "3": [frozenset("ab")]}

    summary = score_images(gold, {"1": frozenset("a"), "2": frozenset("b"), "3": frozenset("a")})

    assert summary.deviation == pytest.approx(
        (numpy.std([1, 0, 1]), numpy.std([1, 0, 0.5]), numpy.std([1, 0, 2 / 3]))
    )


def test_an_image_without_a_selection_scores_0():
    gold = {"1": [frozenset("a")], "2": [frozenset("a")]}

    assert score_images(gold, {"1": frozenset("a")}).mean == Score(0.5, 0.5, 0.5)


def test_an_image_without_gold_is_left_out():
    gold = {"1": [frozenset("a")], "2": []}

    score = score_images(gold, {"1": frozenset("a"), "2": frozenset("a"), "3": frozenset("a")})

    assert score.mean == Score(1, 1, 1)


@pytest.mark.parametrize("gold", [{}, {"1": []}])
def test_nothing_to_score_is_an_error(gold):
    with pytest.raises(DomainError, match="No image has a description"):
        score_images(gold, {"1": frozenset("a")})
    with pytest.raises(DomainError, match="No image has a description"):
        boxes_per_description(gold)


def test_people_are_scored_against_the_others_who_described_the_image():
    gold = {"1": [frozenset("ab"), frozenset("a")], "alone": [frozenset("a")]}

    bound = human_upper_bound(gold)

    # "ab" against "a" has P 1/2 and R 1; "a" against "ab" the reverse; F is 2/3 both times.
    assert bound.mean == pytest.approx((0.75, 0.75, 2 / 3))


def test_the_upper_bound_of_images_described_once_is_unknown():
    assert human_upper_bound({"1": [frozenset("a")]}) is None


@given(golds)
def test_the_upper_bound_is_the_mean_of_leaving_each_description_out(gold):
    of_images = [
        [
            plain_score(left_out, descriptions[:place] + descriptions[place + 1 :])
            for place, left_out in enumerate(descriptions)
        ]
        for descriptions in gold.values()
        if len(descriptions) > 1
    ]

    bound = human_upper_bound(gold)

    if of_images:
        expected = [
            plain_mean(plain_mean(score[measure] for score in scores) for scores in of_images)
            for measure in range(3)
        ]
        assert bound.mean == pytest.approx(tuple(map(float, expected)))
    else:
        assert bound is None


def test_boxes_per_description_counts_every_description_the_same():
    gold = {"1": [frozenset("abc"), frozenset("a"), frozenset()], "2": [frozenset("ab")]}

    assert boxes_per_description(gold) == 1.5
