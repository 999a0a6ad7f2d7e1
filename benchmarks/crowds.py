"""A crowd that writes real captions and spoils some of them.

One worker in six is careless, each in one manner, and spoils a share of what they write, 40 % or
90 %; who is good at first spoils that share of the second half. Everybody else slips now and then.
The workers are made up: captions are dealt to them at random, and what they spoil is drawn at
random. Plain Python.
"""

import json
import os
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.spoilers import KNOWN, SPOILERS, Photo, Scene, Spoiler

WORKERS = 120
CAPTIONS = 22_500
CARELESS = 1 / 6
SPOILED, MOSTLY_SPOILED = 0.4, 0.9
SLIPS = 0.01
LATE = "good at first"
SOURCES = {
    "nocaps": Path("nocaps/nocaps_val_2250_captions.json"),
    "coco": Path("coco/coco_karpathy_val_gt.json"),
}


@dataclass(frozen=True)
class Written:
    """A caption that a worker wrote, with the truth about it; in the order of writing."""

    worker: int
    image: int
    text: str
    is_bad: bool


@dataclass(frozen=True)
class Crowd:
    """Captions in the order in which they came in, and each careless worker's manner."""

    captions: list[Written]
    manners: Mapping[int, str]


# How many captions each worker writes, from the number of workers, of images, and of the captions
# that there are.
Law = Callable[[int, int, int], Mapping[int, float]]
# By the second law half of the workers write so many at most, and the busiest one so many.
FEW, MOST = 5, 400


def by_rank(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """As 1/rank, so that a few write thousands; nobody more than there are images."""
    total = min(CAPTIONS, captions)
    volumes = {worker: 1 / (worker + 1) for worker in range(workers)}
    for _ in range(10):  # What is cut from the first goes to the others.
        scale = total / sum(volumes.values())
        volumes = {worker: min(images * 0.9, v * scale) for worker, v in volumes.items()}
    return volumes


def mostly_few(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """Half of the workers write one to five captions, as often each; of the others a few write
    hundreds. So did the 61 workers of a real batch, of whom 35 wrote at most five. Where there are
    fewer captions, everybody writes that many fewer."""
    few = workers // 2
    step = (MOST / (FEW + 1)) ** (1 / max(1, workers - few - 1))
    many = [min(images * 0.9, (FEW + 1) * step**place) for place in range(workers - few)]
    volumes = [*(1.0 + worker % FEW for worker in range(few)), *many]
    share = min(1.0, captions / sum(volumes))
    return {worker: volume * share for worker, volume in enumerate(volumes)}


def shared_data() -> Path:
    """The folder of real captions; raises SystemExit where it is absent."""
    folder = Path(os.environ.get("SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit(f"{folder} is absent; SHARED_DATA names the folder of real captions.")
    return folder


def read_captions(source: str) -> dict[int, list[str]]:
    """The real captions of each image of `nocaps` or `coco`."""
    content = json.loads((shared_data() / SOURCES[source]).read_text(encoding="utf-8"))
    images: dict[int, list[str]] = defaultdict(list)
    for annotation in content["annotations"]:
        images[annotation["image_id"]].append(annotation["caption"].strip())
    return dict(images)


def gather(
    images: Mapping[int, Sequence[str]],
    *,
    seed: int,
    workers: int = WORKERS,
    manners: Sequence[str] = (*KNOWN, LATE),
    slips: float = SLIPS,
    law: Law = by_rank,
    spoils: float = SPOILED,
) -> Crowd:
    """A crowd that writes the images' captions; the same for the same seed.

    `spoils` is the share that careless workers spoil, each in one manner, `slips` the share that
    good workers spoil on average, each in any of the known manners.
    """
    rng = random.Random(seed)
    lines = _assign(images, law, workers, rng)
    careless = _draw_careless(workers, manners, rng)
    spoiled = _draw_spoiled(lines, careless, spoils, slips, rng)
    scene = Scene(images, rng)
    captions = []
    for number, (worker, image, text) in enumerate(lines):
        photo = Photo(worker, image, text)
        if number in spoiled:
            text = _spoiler(careless.get(worker), rng)(scene, photo)
        scene.note(photo, text)
        captions.append(Written(worker, image, text, number in spoiled))
    return Crowd(captions, careless)


def _assign(
    images: Mapping[int, Sequence[str]], law: Law, workers: int, rng: random.Random
) -> list[tuple[int, int, str]]:
    """(worker, image, caption) in the order of writing; nobody writes two captions for an
    image."""
    texts = {image: list(captions) for image, captions in images.items()}
    places = [image for image, captions in texts.items() for _ in captions]
    rng.shuffle(places)
    left = dict(law(workers, len(texts), len(places)))
    total = round(sum(left.values()))
    done: dict[int, set[int]] = defaultdict(set)
    lines = []
    for image in places[:total]:
        free = [worker for worker in left if worker not in done[image]]
        worker = rng.choices(free, [left[worker] + 0.01 for worker in free])[0]
        left[worker] = max(0, left[worker] - 1)
        done[image].add(worker)
        lines.append((worker, image, texts[image].pop(rng.randrange(len(texts[image])))))
    return lines


def _draw_careless(workers: int, manners: Sequence[str], rng: random.Random) -> dict[int, str]:
    chosen = rng.sample(range(workers), round(workers * CARELESS))
    order = rng.sample(list(manners), len(manners))
    return {worker: order[i % len(order)] for i, worker in enumerate(chosen)}


def _draw_spoiled(
    lines: Sequence[tuple[int, int, str]],
    careless: Mapping[int, str],
    spoils: float,
    slips: float,
    rng: random.Random,
) -> set[int]:
    """The numbers of the lines that are to be spoiled."""
    work: dict[int, list[int]] = defaultdict(list)
    for number, (worker, _, _) in enumerate(lines):
        work[worker].append(number)
    spoiled: set[int] = set()
    for worker, numbers in work.items():
        if worker in careless:
            open_to_it = numbers[len(numbers) // 2 :] if careless[worker] == LATE else numbers
            spoiled.update(rng.sample(open_to_it, round(spoils * len(open_to_it))))
        elif slips:
            # Good workers differ: most hardly ever slip, a few do so several times as often.
            own_share = min(rng.expovariate(1 / slips), 0.05)
            spoiled.update(number for number in numbers if rng.random() < own_share)
    return spoiled


def _spoiler(manner: str | None, rng: random.Random) -> Spoiler:
    if manner is None or manner == LATE:
        return SPOILERS[rng.choice(KNOWN)]
    return SPOILERS[manner]
