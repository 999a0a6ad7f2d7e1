"""Simulated crowds that write real captions and spoil some of them. Plain Python.

One worker in six is careless, with one failure pattern, and spoils 40% or 90% of their captions (a
worker who is “good at first” spoils that share of the second half). The others slip now and then.
The workers are invented: captions are assigned to them at random.
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
    """A caption as a worker wrote it, and whether it is bad."""

    worker: int
    image: int
    text: str
    is_bad: bool


@dataclass(frozen=True)
class Crowd:
    """Captions in the order of writing, and the failure pattern of each careless worker."""

    captions: list[Written]
    patterns: Mapping[int, str]


# A function from the numbers of workers, images and captions to each worker's number of captions.
Law = Callable[[int, int, int], Mapping[int, float]]
# In `mostly_few`: the most captions of the less active half, and those of the busiest worker.
FEW, MOST = 5, 400


def by_rank(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """Proportional to 1/rank, so that a few workers write thousands; at most one per image."""
    total = min(CAPTIONS, captions)
    volumes = {worker: 1 / (worker + 1) for worker in range(workers)}
    for _ in range(10):  # What the busiest cannot write goes to the others.
        scale = total / sum(volumes.values())
        volumes = {worker: min(images * 0.9, v * scale) for worker, v in volumes.items()}
    return volumes


def mostly_few(workers: int, images: int, captions: int) -> Mapping[int, float]:
    """Half of the workers write one to five captions, and a few of the others write hundreds. In a
    real batch of 61 workers, 35 wrote at most five. If there are not enough captions, all numbers
    are reduced in proportion."""
    few = workers // 2
    step = (MOST / (FEW + 1)) ** (1 / max(1, workers - few - 1))
    many = [min(images * 0.9, (FEW + 1) * step**place) for place in range(workers - few)]
    volumes = [*(1.0 + worker % FEW for worker in range(few)), *many]
    share = min(1.0, captions / sum(volumes))
    return {worker: volume * share for worker, volume in enumerate(volumes)}


def shared_data() -> Path:
    """The folder of real captions; raises SystemExit if it is absent."""
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
    patterns: Sequence[str] = (*KNOWN, LATE),
    slips: float = SLIPS,
    law: Law = by_rank,
    spoils: float = SPOILED,
) -> Crowd:
    """A crowd that writes the images' captions; the same seed gives the same crowd.

    Careless workers spoil the share `spoils` of their captions, each with one failure pattern. Good
    workers spoil the share `slips` on average, with any of the known patterns.
    """
    rng = random.Random(seed)
    lines = _assign(images, law, workers, rng)
    careless = _draw_careless(workers, patterns, rng)
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
    """(worker, image, caption) in the order of writing; a worker writes one caption per image."""
    texts = {image: list(captions) for image, captions in images.items()}
    images_to_caption = [image for image, captions in texts.items() for _ in captions]
    rng.shuffle(images_to_caption)
    left = dict(law(workers, len(texts), len(images_to_caption)))
    total = round(sum(left.values()))
    done: dict[int, set[int]] = defaultdict(set)
    lines = []
    for image in images_to_caption[:total]:
        free = [worker for worker in left if worker not in done[image]]
        worker = rng.choices(free, [left[worker] + 0.01 for worker in free])[0]
        left[worker] = max(0, left[worker] - 1)
        done[image].add(worker)
        lines.append((worker, image, texts[image].pop(rng.randrange(len(texts[image])))))
    return lines


def _draw_careless(workers: int, patterns: Sequence[str], rng: random.Random) -> dict[int, str]:
    chosen = rng.sample(range(workers), round(workers * CARELESS))
    order = rng.sample(list(patterns), len(patterns))
    return {worker: order[i % len(order)] for i, worker in enumerate(chosen)}


def _draw_spoiled(
    lines: Sequence[tuple[int, int, str]],
    careless: Mapping[int, str],
    spoils: float,
    slips: float,
    rng: random.Random,
) -> set[int]:
    """The indices of the lines to spoil."""
    work: dict[int, list[int]] = defaultdict(list)
    for number, (worker, _, _) in enumerate(lines):
        work[worker].append(number)
    spoiled: set[int] = set()
    for worker, numbers in work.items():
        if worker in careless:
            candidates = numbers[len(numbers) // 2 :] if careless[worker] == LATE else numbers
            spoiled.update(rng.sample(candidates, round(spoils * len(candidates))))
        elif slips:
            # Good workers differ: most hardly ever slip, a few slip much more often.
            own_share = min(rng.expovariate(1 / slips), 0.05)
            spoiled.update(number for number in numbers if rng.random() < own_share)
    return spoiled


def _spoiler(pattern: str | None, rng: random.Random) -> Spoiler:
    if pattern is None or pattern == LATE:
        return SPOILERS[rng.choice(KNOWN)]
    return SPOILERS[pattern]
