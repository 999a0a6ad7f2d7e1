"""The simulated crowds of the spot-check benchmark."""

import os
import random
import subprocess
import sys
from collections import Counter, defaultdict

import pytest

from benchmarks.crowds import (
    FEW,
    KNOWN,
    LATE,
    MOST,
    MOSTLY_SPOILED,
    SPOILERS,
    Crowd,
    Photo,
    Scene,
    gather,
    mostly_few,
)
from benchmarks.harness import ROOT
from benchmarks.review_strategies import (
    SimulatedReview,
    check_at_random,
    check_by_expected_value,
    check_round_robin,
    true_share,
)

THINGS = ["dog", "cat", "bus", "boat", "horse", "kite", "clock", "train", "couch", "pizza"]
WORKERS = 42
IMAGES = {
    image: [
        f"A {colour} {THINGS[image % 10]} near the {THINGS[image % 7]} of a quiet town."
        for colour in ("red", "blue", "small", "large", "white")
    ]
    for image in range(600)
}


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    return gather(IMAGES, seed=1, workers=WORKERS)


def bad_shares(crowd: Crowd) -> dict[int, float]:
    verdicts = defaultdict(list)
    for caption in crowd.captions:
        verdicts[caption.worker].append(caption.is_bad)
    return {worker: sum(bad) / len(bad) for worker, bad in verdicts.items()}


def test_one_worker_in_six_is_careless_in_one_of_the_patterns(crowd):
    assert len(crowd.patterns) == WORKERS / 6
    assert set(crowd.patterns.values()) == {*KNOWN, LATE}


def test_careless_workers_spoil_two_in_five_and_those_good_at_first_half_of_that(crowd):
    shares = bad_shares(crowd)

    for worker, pattern in crowd.patterns.items():
        assert shares[worker] == pytest.approx(0.2 if pattern == LATE else 0.4, abs=0.15)


def test_by_the_second_law_half_of_the_workers_write_five_captions_at_most_and_a_few_hundreds():
    crowd = gather(IMAGES, seed=1, workers=30, law=mostly_few)
    volumes = sorted(Counter(caption.worker for caption in crowd.captions).values())

    assert sum(volume <= FEW + 2 for volume in volumes) >= 14
    assert 2 <= sum(volume > 200 for volume in volumes) <= 6
    assert volumes[-1] == pytest.approx(MOST, rel=0.1)


def test_careless_workers_spoil_the_stated_share():
    crowd = gather(IMAGES, seed=1, workers=30, law=mostly_few, spoils=MOSTLY_SPOILED)
    volumes = Counter(caption.worker for caption in crowd.captions)
    shares = bad_shares(crowd)

    busy = [worker for worker, pattern in crowd.patterns.items() if pattern != LATE]
    for worker in busy:
        assert shares[worker] == pytest.approx(MOSTLY_SPOILED, abs=0.5 / volumes[worker] + 0.01)


def test_few_workers_write_most(crowd):
    volumes = sorted(Counter(caption.worker for caption in crowd.captions).values())

    assert sum(volumes[-8:]) > sum(volumes[:-8])


def test_nobody_writes_two_captions_for_an_image(crowd):
    pairs = [(caption.worker, caption.image) for caption in crowd.captions]

    assert len(pairs) == len(set(pairs)) == 3000


def test_the_same_seed_gives_the_same_crowd(crowd):
    assert gather(IMAGES, seed=1, workers=WORKERS) == crowd
    assert gather(IMAGES, seed=2, workers=WORKERS) != crowd


@pytest.mark.slow
def test_the_same_seed_gives_the_same_crowd_in_every_process():
    code = (
        "from benchmarks.crowds import gather; from tests.benchmarks.test_crowds import IMAGES;"
        "print([caption.text for caption in gather(IMAGES, seed=1, workers=12).captions])"
    )

    def written(hash_seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        return subprocess.check_output([sys.executable, "-c", code], env=environment, cwd=ROOT)

    assert written("1") == written("2")


@pytest.mark.parametrize("pattern", SPOILERS)
def test_a_spoiled_caption_is_another_one(crowd, pattern):
    scene = Scene(IMAGES, random.Random(3))
    photo = Photo(worker=1, image=7, text=IMAGES[7][0])
    scene.note(Photo(worker=2, image=7, text=""), IMAGES[7][1])

    assert SPOILERS[pattern](scene, photo) not in {"", photo.text}


def test_excluding_a_worker_removes_what_they_spoiled(crowd):
    review = SimulatedReview(crowd, seed=0)
    worker = next(iter(crowd.patterns))
    before = true_share(review)

    review.exclude(worker)

    assert true_share(review) < before
    assert len(review.removals) == sum(c.is_bad for c in crowd.captions if c.worker == worker)


def test_the_share_left_is_that_of_the_captions_kept_after_so_many_checks(crowd):
    review = SimulatedReview(crowd, seed=0)
    found = [true_share(review)]

    for number in review.order[:100]:
        review.judge(number)
        found.append(true_share(review))
    review.exclude(next(iter(crowd.patterns)))

    assert [review.share_left(checks) for checks in range(100)] == found[:100]
    assert review.share_left(100) == review.share_left(10_000) == true_share(review)


@pytest.mark.parametrize("check", [check_at_random, check_round_robin])
def test_plain_ways_find_the_careless_in_the_end(crowd, check):
    review = SimulatedReview(crowd, seed=0)

    check(review)

    assert len(set(review.excluded) & set(crowd.patterns)) >= 6
    assert 100 < review.checks <= len(crowd.captions)


def test_the_queue_needs_fewer_checks_than_round_robin_even_where_no_flag_is(crowd):
    blind = [() for _ in crowd.captions]
    ours, theirs = SimulatedReview(crowd, seed=0), SimulatedReview(crowd, seed=0)

    snapshots = check_by_expected_value(ours, blind)
    check_round_robin(theirs)

    assert ours.checks < theirs.checks
    assert [snapshot.checks for snapshot in snapshots] == list(range(0, 50 * len(snapshots), 50))
    assert all(m.estimate.low <= m.truth <= m.estimate.high for m in snapshots)


def test_a_reviewer_stops_after_the_most_checks_whoever_is_left(crowd):
    review = SimulatedReview(crowd, seed=0)

    check_by_expected_value(review, [() for _ in crowd.captions], most=40)

    assert review.checks == 40
