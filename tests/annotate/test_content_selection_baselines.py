"""The selections of each baseline, and that only development data is used for learning."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.content_selection.baselines import (
    MOST_BOXES,
    Box,
    UnfitParts,
    learn_priors,
    position,
    rankings,
    ranks,
    run_baselines,
    size,
)
from annotate.content_selection.metric import score_images

WHOLE = (0.0, 0.0, 1.0, 1.0)
CENTRE = (0.4, 0.4, 0.6, 0.6)
CORNER = (0.0, 0.0, 0.2, 0.2)

edges = st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted)
boxes_of_any_form = st.builds(
    lambda label, x, y: Box(label, x[0], y[0], x[1], y[1]), st.sampled_from("abc"), edges, edges
)
images = st.dictionaries(st.integers(0, 99).map(str), boxes_of_any_form, max_size=12)
CUES = {"position": position, "size": size}


def ranked(boxes, cues=CUES, seed=0):
    return rankings(boxes, cues, random.Random(seed))


def crowd(images, seed):
    """Boxes, and descriptions by people who mention labels with given probabilities."""
    chance = random.Random(seed)
    interest = {"person": 0.9, "dog": 0.7, "chair": 0.3, "cloud": 0.05}
    boxes, gold = {}, {}
    for image in map(str, range(images)):
        boxes[image] = {
            f"{image}-{number}": Box(chance.choice(list(interest)), *CENTRE) for number in range(8)
        }
        gold[image] = [
            frozenset(
                key for key, box in boxes[image].items() if chance.random() < interest[box.label]
            )
            for _ in range(5)
        ]
    return gold, boxes


def parts_of(gold):
    """Every other image for development, the rest for scoring."""
    pairs = list(gold.items())
    return dict(pairs[::2]), dict(pairs[1::2])


def test_size_is_the_share_of_the_image():
    assert size([Box("a", *WHOLE), Box("a", 0.0, 0.5, 0.5, 1.0)]) == [1, 0.25]


def test_position_is_best_at_the_centre_and_worst_in_a_corner():
    point_in_the_corner = Box("a", 1.0, 1.0, 1.0, 1.0)

    values = position([Box("a", *CENTRE), Box("a", *WHOLE), point_in_the_corner])

    assert values == pytest.approx([0, 0, -(0.5**0.5)])


def test_priors_count_a_description_once_for_each_label_and_pair():
    boxes = {"1": {"1": Box("man", *WHOLE), "2": Box("man", *CORNER), "3": Box("dog", *CENTRE)}}
    gold = {"1": [frozenset("123"), frozenset("1"), frozenset("23"), frozenset()]}

    priors = learn_priors(gold, boxes)

    assert priors.labels == Counter(man=3, dog=2)
    assert priors.pairs == Counter({("dog", "man"): 2, ("man", "man"): 1})


def test_bigram_prior_is_that_of_the_best_partner_in_the_image():
    boxes = {"1": {"1": Box("man", *WHOLE), "2": Box("dog", *CORNER), "3": Box("ball", *CENTRE)}}
    priors = learn_priors({"1": [frozenset("12"), frozenset("12"), frozenset("23")]}, boxes)
    man, dog, ball = boxes["1"].values()

    assert priors.bigram([man, dog, ball]) == [2, 2, 1]
    assert priors.bigram([man, ball]) == [0, 0]
    assert priors.bigram([man]) == [0]
    assert priors.unigram([man, dog, ball]) == [2, 3, 1]


def test_equal_values_share_a_rank():
    assert ranks([0.5, 0.9, 0.5, 0.1]) == [1, 0, 1, 3]


@given(images)
def test_every_ranking_has_every_box_once(boxes):
    for ids in ranked(boxes).values():
        assert sorted(ids) == sorted(boxes)


@given(images)
def test_a_cue_ranks_by_falling_value(boxes):
    for name, cue in CUES.items():
        values = cue([boxes[key] for key in ranked(boxes)[name]])

        assert list(values) == sorted(values, reverse=True)


@given(images, st.integers())
def test_rankings_do_not_depend_on_the_order_of_the_boxes(boxes, seed):
    reordered = dict(reversed(boxes.items()))

    assert ranked(reordered, seed=seed) == ranked(boxes, seed=seed)


def test_combined_adds_up_ranks():
    boxes = {
        "large and central": Box("a", 0.1, 0.1, 0.9, 0.9),
        "small and central": Box("a", *CENTRE),
        "small and in a corner": Box("a", *CORNER),
    }

    assert ranked(boxes)["combined"] == list(boxes)


def test_chance_decides_between_boxes_that_a_cue_cannot_tell_apart():
    twins = {"1": Box("a", *CENTRE), "2": Box("a", *CENTRE)}

    first = Counter(ranked(twins, seed=seed)["size"][0] for seed in range(200))

    assert 60 < first["1"] < 140


def test_the_first_k_boxes_are_scored_and_an_image_of_fewer_boxes_gives_them_all():
    boxes = {
        "1": {"large": Box("a", *WHOLE), "small": Box("b", *CENTRE)},
        "2": {"only": Box("a", *CORNER)},
        "learnt from": {"box": Box("a", *WHOLE)},
    }
    gold = {"1": [frozenset({"large"})], "2": [frozenset({"only"})]}

    scores = run_baselines(gold, {"learnt from": [frozenset({"box"})]}, boxes)["size"].scores

    everything = {image: frozenset(boxes[image]) for image in gold}
    assert len(scores) == MOST_BOXES
    assert scores[0] == (1, 1, 1)
    assert set(scores[1:]) == {score_images(gold, everything)}


def test_the_priors_beat_chance_where_people_agree_on_what_matters():
    gold, boxes = crowd(images=60, seed=3)
    development, test = parts_of(gold)

    curves = run_baselines(test, development, boxes)

    assert set(curves) == {"random", "position", "size", "unigram", "bigram", "combined"}
    for k in range(1, 5):
        by_name = {name: curve.scores[k - 1].f for name, curve in curves.items()}
        assert by_name["unigram"] > by_name["random"] + 0.1
        assert by_name["bigram"] > by_name["random"] + 0.1
        assert by_name["combined"] > by_name["random"] + 0.1


@pytest.mark.parametrize("name", ["unigram", "bigram"])
def test_priors_know_nothing_of_the_descriptions_they_are_scored_on(name):
    boxes = {
        image: {f"{image}{label}": Box(label, *CENTRE) for label in ("cat", "dog", "man")}
        for image in ("d", "t")
    }
    development = {"d": [frozenset({"dcat", "dman"}), frozenset({"dcat", "dman"})]}
    gold = {"t": [frozenset({"tdog"})]}

    scores = run_baselines(gold, development, boxes)[name].scores

    assert [score.f for score in scores[:3]] == [0, 0, 0.5]


def test_chance_decides_for_each_image_anew():
    images = [str(number) for number in range(200)]
    boxes = {
        image: {f"{image} {twin}": Box("a", *CENTRE) for twin in "ab"} for image in [*images, "d"]
    }
    gold = {image: [frozenset({f"{image} a"})] for image in images}

    scores = run_baselines(gold, {"d": [frozenset()]}, boxes)["random"].scores

    assert 0.3 < scores[0].f < 0.7


def test_best_k_is_learnt_on_the_development_part():
    boxes = {
        image: {f"{image}{number}": Box("a", *CENTRE) for number in range(4)} for image in "dt"
    }
    development = {"d": [frozenset({"d0", "d1", "d2", "d3"})]}
    gold = {"t": [frozenset({"t0"})]}

    curves = run_baselines(gold, development, boxes)

    assert {curve.best_k for curve in curves.values()} == {4}
    assert all(curve.best == curve.scores[3] for curve in curves.values())


def test_the_seed_alone_decides_what_chance_does():
    gold, boxes = crowd(images=20, seed=1)
    development, test = parts_of(gold)
    test_reordered = dict(reversed(test.items()))

    assert run_baselines(test, development, boxes, seed=4) == run_baselines(
        test_reordered, development, boxes, seed=4
    )
    assert run_baselines(test, development, boxes, seed=4) != run_baselines(
        test, development, boxes, seed=5
    )


def test_an_image_that_was_learnt_from_is_not_scored_on():
    gold, boxes = crowd(images=2, seed=1)

    with pytest.raises(UnfitParts, match="1 of the images .*'1'"):
        run_baselines({"1": gold["1"]}, gold, boxes)


@pytest.mark.parametrize("part", ["gold", "development"])
def test_a_mentioned_box_that_is_in_no_file_is_an_error(part):
    parts = {"gold": {"1": [frozenset("a")]}, "development": {"2": [frozenset("b")]}}
    boxes = {"1": {"a": Box("dog", *WHOLE)}, "2": {"b": Box("dog", *WHOLE)}}
    (image,) = parts[part]
    del boxes[image]

    with pytest.raises(UnfitParts, match=f"image '{image}' mentions box"):
        run_baselines(**parts, boxes=boxes)
