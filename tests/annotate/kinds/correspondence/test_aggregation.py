"""Aggregating several answers by majority and with Dawid and Skene's model."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.kinds.correspondence.aggregation import Answers, aggregate
from tests.annotate.kinds.correspondence.test_agreement import WORDS

METHODS = ["majority", "dawid-skene"]


def boxes(words, number):
    return [link.box for link in words[number].links]


@pytest.mark.parametrize("method", METHODS)
def test_what_all_say_holds(method):
    said = {"1": [4], "3": [4, 5], "6": "scene"}

    (words,) = aggregate([Answers([1, 2, 3], [said] * 3)], method)

    assert (boxes(words, 1), boxes(words, 3), words[6].kind) == ([4], [4, 5], "scene")
    assert {link.support for word in words.values() for link in word.links} == {1.0}
    assert words[6].support == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_two_of_three_hold_and_the_third_does_not(method):
    (words,) = aggregate([Answers([1, 2, 3], [{"1": [4]}, {"1": [4]}, {"1": [5]}])], method)

    assert boxes(words, 1) == [4]
    assert words[1].links[0].support == pytest.approx(2 / 3)


def test_a_word_that_each_links_to_another_box_is_undecided():
    (words,) = aggregate([Answers([1, 2, 3], [{"1": [4]}, {"1": [5]}, {"1": [6]}])], "majority")

    assert (words[1].links, words[1].kind) == ((), None)


def test_of_two_kinds_with_as_many_votes_the_first_stands():
    (words,) = aggregate([Answers([1, 2], [{"1": "scene"}, {"1": "not-boxed"}])], "majority")

    assert (words[1].kind, words[1].support) == ("not-boxed", 0.5)


def test_nothing_comes_of_no_captions_and_of_captions_without_links():
    assert aggregate([], "dawid-skene") == []
    assert aggregate([Answers([1, 2], [{}, {}])], "majority") == [{}]


@settings(max_examples=5, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_only_words_that_somebody_answered_come_to_anything(captions):
    given_answers = [Answers(range(len(words)), words) for words in captions]

    for answers, words in zip(given_answers, aggregate(given_answers, "majority"), strict=True):
        assert set(words) == {int(number) for said in answers.words for number in said}


def crowd(rng, *, captions, workers, accuracy, words=4, choices=6):
    """Random true answers, and a crowd's answers to them; `accuracy` by worker."""
    truths, said = [], []
    for _ in range(captions):
        truth = {number: rng.randint(1, choices) for number in range(words)}
        chosen = rng.sample(range(len(accuracy)), workers)
        answers = [
            {
                str(number): [box if rng.random() < accuracy[worker] else rng.randint(1, choices)]
                for number, box in truth.items()
            }
            for worker in chosen
        ]
        truths.append(truth)
        said.append(Answers(chosen, answers))
    return truths, said


def right(truths, found):
    """The share of words whose only link is correct."""
    pairs = [
        (boxes(words, number), [box])
        for truth, words in zip(truths, found, strict=True)
        for number, box in truth.items()
    ]
    return sum(linked == true for linked, true in pairs) / len(pairs)


def test_dawid_and_skene_learn_whom_to_trust():
    rng = random.Random(5)
    truths, said = crowd(rng, captions=120, workers=5, accuracy=[0.95] * 6 + [0.3] * 9)

    counted, weighed = (right(truths, aggregate(said, method)) for method in METHODS)

    assert weighed > counted + 0.1


def test_a_fifth_of_errors_leaves_nearly_every_link_right():
    rng = random.Random(5)
    truths, said = crowd(rng, captions=200, workers=7, accuracy=[0.8] * 30)

    assert right(truths, aggregate(said, "dawid-skene")) >= 0.97
