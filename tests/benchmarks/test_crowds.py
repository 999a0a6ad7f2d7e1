"""The crowds of the spot-check experiment."""

import random
from collections import Counter, defaultdict

import pytest

from benchmarks.crowds import LATE, Crowd, gather
from benchmarks.desks import Desk, check_at_random, check_by_worth, check_round_robin, true_share
from benchmarks.spoilers import KNOWN, SPOILERS, Photo, Scene

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


def test_one_worker_in_six_is_careless_in_one_of_the_manners(crowd):
    assert len(crowd.manners) == WORKERS / 6
    assert set(crowd.manners.values()) == {*KNOWN, LATE}


def test_careless_workers_spoil_two_in_five_and_those_good_at_first_half_of_that(crowd):
    shares = bad_shares(crowd)

    for worker, manner in crowd.manners.items():
        assert shares[worker] == pytest.approx(0.2 if manner == LATE else 0.4, abs=0.15)


def test_few_workers_write_most(crowd):
    volumes = sorted(Counter(caption.worker for caption in crowd.captions).values())

    assert sum(volumes[-8:]) > sum(volumes[:-8])


def test_nobody_writes_two_captions_for_an_image(crowd):
    pairs = [(caption.worker, caption.image) for caption in crowd.captions]

    assert len(pairs) == len(set(pairs)) == 3000


def test_the_same_seed_gives_the_same_crowd(crowd):
    assert gather(IMAGES, seed=1, workers=WORKERS) == crowd
    assert gather(IMAGES, seed=2, workers=WORKERS) != crowd


@pytest.mark.parametrize("manner", SPOILERS)
def test_a_spoiled_caption_is_another_one(crowd, manner):
    scene = Scene(IMAGES, random.Random(3))
    photo = Photo(worker=1, image=7, text=IMAGES[7][0])
    scene.note(Photo(worker=2, image=7, text=""), IMAGES[7][1])

    assert SPOILERS[manner](scene, photo) not in {"", photo.text}


def test_excluding_a_worker_removes_what_they_spoiled(crowd):
    desk = Desk(crowd, seed=0)
    worker = next(iter(crowd.manners))
    before = true_share(desk)

    desk.exclude(worker)

    assert true_share(desk) < before
    assert len(desk.removals) == sum(c.is_bad for c in crowd.captions if c.worker == worker)


@pytest.mark.parametrize("check", [check_at_random, check_round_robin])
def test_plain_ways_find_the_careless_in_the_end(crowd, check):
    desk = Desk(crowd, seed=0)

    check(desk)

    assert len(set(desk.excluded) & set(crowd.manners)) >= 6
    assert 100 < desk.checks <= len(crowd.captions)


def test_the_queue_needs_fewer_checks_than_round_robin_even_where_no_flag_is(crowd):
    blind = [() for _ in crowd.captions]
    ours, theirs = Desk(crowd, seed=0), Desk(crowd, seed=0)

    moments = check_by_worth(ours, blind, least=0)
    check_round_robin(theirs)

    assert ours.checks < theirs.checks
    assert all(found.low <= truth <= found.high for truth, found in moments)
