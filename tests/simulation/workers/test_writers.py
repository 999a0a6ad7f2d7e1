"""Captions by simulated workers, checked by the rules and the simulated reviewer."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.language.text import CaptionRules, problems
from simulation.kinds.caption import CARELESS_WRITERS, fault, writer_of
from simulation.scenes.dataset import HIDDEN, LABELS
from simulation.workers.writers import (
    Honest,
    Limits,
    Mixer,
    Sight,
    called,
    mentions,
    plural,
    with_article,
)

RULES = CaptionRules()
LIMITS = Limits(RULES.least_words, RULES.most_words)
SHOWN = sorted(set(LABELS) - HIDDEN)
ELSEWHERE = [Sight({"Lighthouse": 1, "Boat": 2}), Sight({"Cake": 1, "Candle": 3, "Mug": 1})]
seeds = st.integers(0, 10**6)
sights = st.builds(Sight, st.dictionaries(st.sampled_from(SHOWN), st.integers(1, 8), max_size=9))
seen = st.builds(
    Sight, st.dictionaries(st.sampled_from(SHOWN), st.integers(1, 8), min_size=2, max_size=9)
)


def written(kind: str, sight: Sight, seed: int) -> str:
    writer = writer_of(kind, random.Random(seed), ELSEWHERE)
    return writer.write(sight, LIMITS, random.Random(seed), refused=True)


@given(sights, seeds)
def test_honest_captions_keep_the_rules_with_and_without_keywords(sight, seed):
    text = written("honest", sight, seed)

    assert problems(text, rules=RULES) == []
    assert problems(text, rules=RULES, keywords=sorted(sight.things)) == []


@given(sights, seeds)
def test_honest_captions_name_only_what_is_there(sight, seed):
    text = written("honest", sight, seed)

    named = mentions(text, set(SHOWN))
    assert named <= set(sight.things)
    assert bool(named) == bool(sight.things)


@given(seen, seeds)
def test_a_reviewer_finds_no_fault_with_honest_captions(sight, seed):
    text = written("honest", sight, seed)

    assert fault(text, sight=sight, known=SHOWN, others=[]) == ""


@pytest.mark.parametrize("kind", CARELESS_WRITERS)
@given(sight=seen, seed=seeds)
def test_careless_captions_keep_the_rules(kind, sight, seed):
    text = written(kind, sight, seed)

    assert problems(text, rules=RULES) == []


@given(seen, seeds)
def test_a_reviewer_recognises_a_list_of_keywords(sight, seed):
    text = written("keyword list", sight, seed)

    assert "list of keywords" in fault(text, sight=sight, known=SHOWN, others=[])


@given(seen, seeds)
def test_a_reviewer_recognises_a_sentence_that_says_nothing(sight, seed):
    text = written("same sentence", sight, seed)

    assert "says nothing" in fault(text, sight=sight, known=SHOWN, others=[])
    assert "same sentence" in fault(text, sight=sight, known=SHOWN, others=[text])


def test_a_reviewer_recognises_the_caption_of_another_image():
    sight = Sight({"Dog": 1, "Couch": 1})
    text = Mixer(ELSEWHERE).write(sight, LIMITS, random.Random(1), refused=False)

    assert fault(text, sight=sight, known=SHOWN, others=[]) == "describes another image"


def test_honest_captions_of_one_image_are_usually_different():
    sight = Sight({"Dog": 2, "House": 1, "Tree": 3, "Man": 1})

    texts = {written("honest", sight, seed) for seed in range(100)}

    assert len(texts) >= 95


def test_an_honest_worker_is_too_short_now_and_then_and_corrects_it():
    sight = Sight({"Dog": 1, "Tree": 1})
    rngs = [random.Random(seed) for seed in range(200)]
    texts = [Honest().write(sight, LIMITS, rng, refused=False) for rng in rngs]

    short = [text for text in texts if problems(text, rules=RULES)]

    assert 0 < len(short) < 20


@pytest.mark.parametrize(
    ("word", "several"),
    [
        ("man", "men"),
        ("bus", "buses"),
        ("bench", "benches"),
        ("butterfly", "butterflies"),
        ("toy", "toys"),
        ("sheep", "sheep"),
        ("palm tree", "palm trees"),
    ],
)
def test_plurals_are_those_of_english(word, several):
    assert plural(word) == several


def test_articles_follow_the_sound():
    words = ["apple", "umbrella", "unicycle", "orange", "house"]

    assert [with_article(word).split()[0] for word in words] == ["an", "an", "a", "an", "a"]


def test_a_palm_tree_is_not_also_a_tree():
    assert mentions("Two palm trees and dogs.", {"Tree", "Palm tree", "Dog"}) == {
        "Palm tree",
        "Dog",
    }
    assert called("Ball (Object)") == "ball"
