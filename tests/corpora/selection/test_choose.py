"""General properties of the subset selection, and a second implementation of the paper's text."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.selection.choose import (
    LEAST_GAIN,
    Candidate,
    ClassCounts,
    TooFewImages,
    choose,
    divide,
)

instances = st.dictionaries(st.integers(0, 12), st.integers(1, 5), max_size=9).map(
    lambda counts: tuple(sorted(counts.items()))
)
pools = st.lists(instances, max_size=60).map(
    lambda images: [Candidate(f"{number:04}", image) for number, image in enumerate(images)]
)
seeds = st.integers(0, 2**32)


def plain_entropy(candidates):
    """−Σ p ln p over the classes of a set of images, computed directly."""
    counts = {}
    for candidate in candidates:
        for object_class, number in candidate.instances:
            counts[object_class] = counts.get(object_class, 0) + number
    total = sum(counts.values())
    return -math.fsum(count / total * math.log(count / total) for count in counts.values())


def plain_choice(candidates, count, sample, seed):
    """The procedure of the paper, recomputing every entropy."""
    generator = random.Random(seed)
    candidates = sorted(candidates)
    chosen = [image for image in candidates if len(image.instances) > 6]
    if len(chosen) > count:
        return generator.sample(chosen, count)
    remaining = [
        [image for image in candidates if len(image.instances) == classes]
        for classes in (2, 3, 4, 5, 6)
    ]
    while len(chosen) < count:
        for pool in remaining:
            if not pool or len(chosen) == count:
                continue
            drawn = generator.sample(pool, min(sample, len(pool)))
            best, best_entropy = drawn[0], plain_entropy([*chosen, drawn[0]])
            for image in drawn[1:]:
                entropy = plain_entropy([*chosen, image])
                if entropy - best_entropy > LEAST_GAIN:
                    best, best_entropy = image, entropy
            pool.remove(best)
            chosen.append(best)
    return chosen


def available(candidates):
    return sum(len(candidate.instances) > 1 for candidate in candidates)


@given(st.lists(instances.filter(bool), min_size=1, max_size=30))
def test_entropy_kept_up_to_date_is_the_entropy_computed_anew(images):
    counts = ClassCounts()

    for number, image in enumerate(images):
        expected = plain_entropy([Candidate("", one) for one in images[: number + 1]])
        assert counts.entropy_with(image) == pytest.approx(expected, abs=1e-9)
        counts.add(image)
        assert counts.entropy() == pytest.approx(expected, abs=1e-9)


@given(pools, seeds, st.integers(1, 12), st.data())
def test_the_choice_is_that_of_the_papers_text(candidates, seed, sample, data):
    count = data.draw(st.integers(0, available(candidates)))

    chosen = choose(candidates, count=count, sample=sample, seed=seed)

    assert chosen == plain_choice(candidates, count, sample, seed)


@given(pools, seeds, st.randoms(use_true_random=False), st.data())
def test_the_order_of_the_candidates_does_not_matter(candidates, seed, shuffler, data):
    count = data.draw(st.integers(0, available(candidates)))
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)

    assert choose(candidates, count=count, seed=seed) == choose(shuffled, count=count, seed=seed)


@given(pools, seeds, st.data())
def test_each_image_is_chosen_once_and_has_two_classes(candidates, seed, data):
    count = data.draw(st.integers(0, available(candidates)))

    chosen = choose(candidates, count=count, seed=seed)

    assert len({candidate.key for candidate in chosen}) == len(chosen) == count
    assert all(len(candidate.instances) >= 2 for candidate in chosen)


@given(pools, seeds)
def test_all_images_of_more_than_six_classes_are_taken_first(candidates, seed):
    rich, _ = divide(candidates)

    chosen = choose(candidates, count=available(candidates), seed=seed)

    assert chosen[: len(rich)] == rich


@given(pools, seeds)
def test_asking_for_one_too_many_says_how_many_there_are(candidates, seed):
    with pytest.raises(TooFewImages) as error:
        choose(candidates, count=available(candidates) + 1, seed=seed)

    assert error.value.available == available(candidates)


def images_of(classes, number):
    """Images with these numbers of classes, always the first ones."""
    return [
        Candidate(f"{classes}-{one:03}", [(c, 1) for c in range(classes)]) for one in range(number)
    ]


def test_more_rich_images_than_asked_for_are_sampled():
    rich = images_of(7, 20)

    chosen = choose(rich, count=5, seed=3)

    assert len(set(map(id, chosen))) == 5
    assert chosen != choose(rich, count=5, seed=4)


def test_the_pools_take_turns_and_an_empty_one_is_passed_over():
    candidates = [*images_of(2, 3), *images_of(3, 3), *images_of(5, 1), *images_of(6, 3)]

    chosen = choose(candidates, count=8, seed=0)

    assert [len(candidate.instances) for candidate in chosen] == [2, 3, 5, 6, 2, 3, 6, 2]


def test_of_equals_the_first_one_drawn_stays():
    candidates = images_of(2, 30)

    chosen = choose(candidates, count=1, sample=5, seed=11)

    assert chosen == [candidates[random.Random(11).sample(range(30), 5)[0]]]


def test_the_choice_evens_the_classes_out():
    generator = random.Random(5)
    candidates = [
        Candidate(
            f"{number:04}",
            sorted({int(40 * generator.random() ** 3): 1 for _ in range(6)}.items()),
        )
        for number in range(2000)
    ]

    chosen = choose(candidates, count=200, sample=20, seed=1)

    at_random = random.Random(1).sample([c for c in candidates if len(c.instances) > 1], 200)
    assert plain_entropy(chosen) > plain_entropy(at_random) + 0.1
