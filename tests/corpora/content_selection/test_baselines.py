"""The selections of each baseline, and that only development data is used for learning."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.content_selection.baselines import (
    BASELINES,
    BY_ORDER,
    MOST_BOXES,
    Bigrams,
    Box,
    Counts,
    Learnt,
    count_bigrams,
    count_labels,
    position,
    rankings,
    ranks,
    run_baselines,
    sequence_ranks,
    size,
)
from corpora.content_selection.metric import score_images
from corpora.errors import DomainError

WHOLE = (0.0, 0.0, 1.0, 1.0)
CENTRE = (0.4, 0.4, 0.6, 0.6)
CORNER = (0.0, 0.0, 0.2, 0.2)

edges = st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted)
boxes_of_any_form = st.builds(
    lambda label, x, y: Box(label, x[0], y[0], x[1], y[1]), st.sampled_from("abc"), edges, edges
)
images = st.dictionaries(st.integers(0, 99).map(str), boxes_of_any_form, max_size=12)
CUES = {"position": position, "size": size}
NOTHING = Learnt(Counts(Counter(), Counter()), None)


def ranked(boxes, learnt=NOTHING, seed=0):
    return rankings(boxes, learnt, random.Random(seed))


def labelled(*labels):
    """Boxes of these labels, by the label and its place: `man 0`."""
    return {f"{label} {number}": Box(label, *CENTRE) for number, label in enumerate(labels)}


def mentioned(boxes, *labels):
    """A description that mentions a box of each label, in this order."""
    by_label = {box.label: key for key, box in boxes.items()}
    return [frozenset({by_label[label]}) for label in labels]


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

    priors = count_labels(gold, boxes)

    assert priors.labels == Counter(man=3, dog=2)
    assert priors.pairs == Counter({("dog", "man"): 2, ("man", "man"): 1})


def test_pair_prior_is_that_of_the_best_partner_in_the_image():
    boxes = {"1": {"1": Box("man", *WHOLE), "2": Box("dog", *CORNER), "3": Box("ball", *CENTRE)}}
    priors = count_labels({"1": [frozenset("12"), frozenset("12"), frozenset("23")]}, boxes)
    man, dog, ball = boxes["1"].values()

    assert priors.pair([man, dog, ball]) == [2, 2, 1]
    assert priors.pair([man, ball]) == [0, 0]
    assert priors.pair([man]) == [0]
    assert priors.unigram([man, dog, ball]) == [2, 3, 1]


SCENE = labelled("woman", "dress", "boot", "car")
# The first sentence of the paper's figure 2, twice, and two others.
DESCRIPTIONS = [
    mentioned(SCENE, "woman", "dress", "boot", "car"),
    mentioned(SCENE, "woman", "dress", "boot", "car"),
    mentioned(SCENE, "woman", "car"),
    mentioned(SCENE, "car"),
]


def test_bigrams_are_labels_of_neighbouring_mentions():
    bigrams = count_bigrams({"1": DESCRIPTIONS}, {"1": SCENE})

    assert bigrams.first == Counter(woman=3, car=1)
    assert bigrams.after["woman"] == Counter(dress=2, car=1)
    assert bigrams.after["boot"] == Counter(car=2)
    assert "car" not in bigrams.after


def test_a_mention_of_several_boxes_counts_once_for_each_label():
    boxes = labelled("man", "man", "dog", "ball")
    people = frozenset({"man 0", "man 1", "dog 2"})

    bigrams = count_bigrams({"1": [[people, frozenset({"ball 3"})]]}, {"1": boxes})

    assert bigrams.first == Counter(man=1, dog=1)
    assert bigrams.after == {"man": Counter(ball=1), "dog": Counter(ball=1)}


def test_descriptions_and_mentions_without_boxes_count_nowhere():
    nothing = count_bigrams({"1": [[], [frozenset()]]}, {"1": SCENE})

    assert nothing == Bigrams(Counter(), {})


def test_bigram_follows_the_likeliest_order_and_stops_where_nothing_follows():
    bigrams = count_bigrams({"1": DESCRIPTIONS}, {"1": SCENE})

    assert bigrams.sequence(SCENE) == ["woman 0", "dress 1", "boot 2", "car 3"]
    assert bigrams.sequence(labelled("car", "boot", "woman")) == ["woman 2", "car 0"]
    assert bigrams.sequence(labelled("dress", "boot")) == []
    assert bigrams.sequence(labelled("car", "woman", "woman")) == ["woman 1", "car 0"]
    assert bigrams.sequence({}) == []


def test_boxes_that_bigram_does_not_select_share_a_mean_rank():
    ids = [str(number) for number in range(9)]

    # The example of section 5.1: three of nine boxes are selected.
    assert sequence_ranks(ids, ["2", "0", "5"]) == [2, 6.5, 1, 6.5, 6.5, 3, 6.5, 6.5, 6.5]


def test_combined_is_the_mean_rank_of_bigram_and_position():
    boxes = {
        "man": Box("man", *CORNER),  # ranks 1 and 3, mean 2
        "dog": Box("dog", *CENTRE),  # 2.5 and 1, mean 1.75
        "ball": Box("ball", 0.2, 0.2, 0.4, 0.4),  # 2.5 and 2, mean 2.25
    }
    bigrams = count_bigrams({"1": [[frozenset({"man"})]]}, {"1": boxes})

    found = ranked(boxes, Learnt(NOTHING.counts, bigrams))

    assert found["bigram"] == ["man"]
    assert found["combined"] == ["dog", "man", "ball"]


def test_the_order_of_mention_adds_two_baselines():
    gold, boxes = crowd(images=40, seed=3)
    development, test = parts_of(gold)
    people_first = ["person", "dog", "chair", "cloud"]
    mentions = {
        image: [
            [
                frozenset({key})
                for key in sorted(
                    description, key=lambda key: people_first.index(boxes[image][key].label)
                )
            ]
            for description in descriptions
        ]
        for image, descriptions in development.items()
    }

    curves = run_baselines(test, development, boxes, mentions=mentions)

    assert list(curves) == list(BASELINES)
    assert curves["bigram"].scores[2].mean.f > curves["random"].scores[2].mean.f + 0.1
    assert curves["combined"].scores[2].mean.f > curves["random"].scores[2].mean.f + 0.1


def test_the_order_of_mention_is_not_learnt_from_scored_images():
    gold, boxes = crowd(images=4, seed=1)
    development, test = parts_of(gold)
    image = next(iter(test))

    with pytest.raises(DomainError, match="also in the development part"):
        run_baselines(test, development, boxes, mentions={image: []})


def test_equal_values_share_a_rank():
    assert ranks([0.5, 0.9, 0.5, 0.1]) == [2, 1, 2, 4]


@given(images)
def test_every_ranking_has_every_box_once(boxes):
    for ids in ranked(boxes).values():  # bigram is not among them: it may stop before
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


def test_rank_sum_adds_up_ranks():
    boxes = {
        "large and central": Box("a", 0.1, 0.1, 0.9, 0.9),
        "small and central": Box("a", *CENTRE),
        "small and in a corner": Box("a", *CORNER),
    }

    assert ranked(boxes)["rank_sum"] == list(boxes)


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
    assert scores[0].mean == (1, 1, 1)
    assert set(scores[1:]) == {score_images(gold, everything)}


def test_the_priors_beat_chance_where_people_agree_on_what_matters():
    gold, boxes = crowd(images=60, seed=3)
    development, test = parts_of(gold)

    curves = run_baselines(test, development, boxes)

    assert set(curves) == set(BASELINES) - BY_ORDER
    for k in range(1, 5):
        by_name = {name: curve.scores[k - 1].mean.f for name, curve in curves.items()}
        assert by_name["unigram"] > by_name["random"] + 0.1
        assert by_name["pair"] > by_name["random"] + 0.1
        assert by_name["combined_unigram"] > by_name["random"] + 0.1
        assert by_name["rank_sum"] > by_name["random"] + 0.1


@pytest.mark.parametrize("name", ["unigram", "pair"])
def test_priors_know_nothing_of_the_descriptions_they_are_scored_on(name):
    boxes = {
        image: {f"{image}{label}": Box(label, *CENTRE) for label in ("cat", "dog", "man")}
        for image in ("d", "t")
    }
    development = {"d": [frozenset({"dcat", "dman"}), frozenset({"dcat", "dman"})]}
    gold = {"t": [frozenset({"tdog"})]}

    scores = run_baselines(gold, development, boxes)[name].scores

    assert [score.mean.f for score in scores[:3]] == [0, 0, 0.5]


def test_chance_decides_for_each_image_anew():
    images = [str(number) for number in range(200)]
    boxes = {
        image: {f"{image} {twin}": Box("a", *CENTRE) for twin in "ab"} for image in [*images, "d"]
    }
    gold = {image: [frozenset({f"{image} a"})] for image in images}

    scores = run_baselines(gold, {"d": [frozenset()]}, boxes)["random"].scores

    assert 0.3 < scores[0].mean.f < 0.7


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

    with pytest.raises(DomainError, match="1 of the images .*'1'"):
        run_baselines({"1": gold["1"]}, gold, boxes)


@pytest.mark.parametrize("part", ["gold", "development"])
def test_a_mentioned_box_that_is_in_no_file_is_an_error(part):
    parts = {"gold": {"1": [frozenset("a")]}, "development": {"2": [frozenset("b")]}}
    boxes = {"1": {"a": Box("dog", *WHOLE)}, "2": {"b": Box("dog", *WHOLE)}}
    (image,) = parts[part]
    del boxes[image]

    with pytest.raises(DomainError, match=f"image '{image}' mentions box"):
        run_baselines(**parts, boxes=boxes)
