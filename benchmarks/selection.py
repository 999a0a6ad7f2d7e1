"""Selection from a pool of nocaps' size, compared with a direct implementation of the paper's text.

Both must make the same choice from the same seed. The direct implementation computes the entropy of
the whole set for every candidate; the product updates two sums. Memory is measured in a separate
process that reads the pool from the database and selects from it.
"""

import argparse
import math
import multiprocessing
import random
from collections.abc import Sequence
from multiprocessing.connection import Connection

from django.db import connection

from annotate.models import Image, ObjectClass
from annotate.selection.choose import DEFAULT_SAMPLE, LEAST_GAIN, Candidate, choose
from annotate.services import imports, selections
from annotate.services.bulk import load
from benchmarks.harness import Line, Report, main, peak_megabytes, ratio, scratch_database, seconds

# Open Images V4's validation and test images, and the number that nocaps chose.
POOL = 41_620 + 125_436
CHOSEN = 15_100
CLASSES = 580
SEED = 7
SPLIT = "pool"
MOST_SECONDS, MOST_MEGABYTES = 10, 500


def generated_pool(images: int, seed: int = SEED) -> list[Candidate]:
    """A pool with class frequencies and numbers of classes per image as uneven as the real ones."""
    generator = random.Random(seed)
    return [
        Candidate(f"{number:016x}", tuple(_instances(generator).items()))
        for number in range(images)
    ]


def _instances(generator: random.Random) -> dict[int, int]:
    classes = min(9, 1 + int(generator.expovariate(0.55)))
    drawn = {int(CLASSES * generator.random() ** 4) for _ in range(classes)}
    return {object_class: 1 + int(generator.expovariate(0.8)) for object_class in sorted(drawn)}


def plain_choice(
    candidates: Sequence[Candidate], count: int, sample: int, seed: int
) -> list[Candidate]:
    """The procedure of the paper, step by step."""
    generator = random.Random(seed)
    chosen = [image for image in candidates if len(image.instances) > 6]
    if len(chosen) > count:
        return generator.sample(chosen, count)
    pools = [[one for one in candidates if len(one.instances) == number] for number in range(2, 7)]
    counts = [0] * CLASSES
    for image in chosen:
        add(counts, image)
    while len(chosen) < count:
        for pool in pools:
            if not pool or len(chosen) == count:
                continue
            best, best_entropy = None, -math.inf
            for image in generator.sample(pool, min(sample, len(pool))):
                entropy = entropy_with(counts, image)
                if entropy - best_entropy > LEAST_GAIN:
                    best, best_entropy = image, entropy
            assert best is not None
            pool.remove(best)
            chosen.append(best)
            add(counts, best)
    return chosen


def add(counts: list[int], image: Candidate) -> None:
    for object_class, number in image.instances:
        counts[object_class] += number


def entropy_with(counts: list[int], image: Candidate) -> float:
    counts = list(counts)
    add(counts, image)
    total = sum(counts)
    return -math.fsum(count / total * math.log(count / total) for count in counts if count)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plain-count",
        type=int,
        default=1_000,
        help="images that the slow rewrite chooses, unless --full (default: 1000)",
    )


def measure(chosen: argparse.Namespace) -> Report:
    pool = generated_pool(POOL)
    plain_count = CHOSEN if chosen.full else chosen.plain_count
    rich = sum(len(candidate.instances) > 6 for candidate in pool)
    plain_count = min(CHOSEN, rich + plain_count)
    plain: list[Candidate] = []
    same: list[Candidate] = []
    plain_time = seconds(
        lambda: plain.extend(plain_choice(pool, plain_count, DEFAULT_SAMPLE, SEED))
    )
    same_time = seconds(lambda: same.extend(choose(pool, count=plain_count, seed=SEED)))
    assert plain == same, "The choices differ."
    full_time = seconds(lambda: choose(pool, count=CHOSEN, seed=SEED))
    database_time, megabytes = measure_in_database(pool)
    return Report(
        lines=[
            Line(
                f"choose {plain_count - rich:,} besides {rich:,} taken, the same ones",
                f"{same_time:.2f} s",
                f"{plain_time:.2f} s, the paper's text",
                ratio(same_time, plain_time),
                1.0,
            ),
            Line(f"choose {CHOSEN:,} of {POOL:,}", f"{full_time:.2f} s"),
            Line(
                "the same with the database",
                f"{database_time:.2f} s",
                f"{MOST_SECONDS} s",
                ratio(database_time, MOST_SECONDS),
                1.0,
            ),
            Line(
                "memory at most",
                f"{megabytes:.0f} MB",
                f"{MOST_MEGABYTES} MB",
                ratio(megabytes, MOST_MEGABYTES),
                1.0,
            ),
        ],
        figures={
            "pool": POOL,
            "chosen": CHOSEN,
            "same_choice": True,
            "compared_images": plain_count,
            "plain_seconds": round(plain_time, 2),
            "seconds_for_the_same": round(same_time, 2),
            "seconds": round(full_time, 2),
            "seconds_with_database": round(database_time, 2),
            "peak_megabytes": round(megabytes),
        },
    )


def measure_in_database(pool: list[Candidate]) -> tuple[float, float]:
    """Seconds and megabytes of reading and selecting in a fresh process."""
    with scratch_database():
        fill(pool)
        reader, writer = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(
            target=choose_from_database, args=(connection_name(), writer)
        )
        process.start()
        try:
            measured: tuple[float, float] = reader.recv()
        finally:
            process.join()
        return measured


def connection_name() -> str:
    return str(connection.settings_dict["NAME"])


def choose_from_database(database: str, writer: Connection) -> None:
    connection.settings_dict["NAME"] = database

    def work() -> None:
        _, candidates = selections.candidates_of(split=SPLIT, ignored=[])
        chosen = choose(candidates, count=CHOSEN, seed=SEED)
        assert len(chosen) == CHOSEN

    time = seconds(work)
    writer.send((time, peak_megabytes()))


def fill(pool: list[Candidate]) -> None:
    """Write the pool as COCO images, which need no hierarchy, with a box for each instance."""
    classes = ObjectClass.objects.bulk_create(
        ObjectClass(label=f"coco:{number}", name=f"Class {number}") for number in range(CLASSES)
    )
    images = Image.objects.bulk_create(
        (Image(source="COCO", key=image.key, split=SPLIT, rotation=0) for image in pool),
        batch_size=1_000,
    )
    load(
        imports.COCO_BOXES,
        lambda: (
            (image.pk, classes[object_class].pk, number / 100, 1.0, 0.0, 1.0, 0, 1.0)
            for image, candidate in zip(images, pool, strict=True)
            for object_class, instances in candidate.instances
            for number in range(instances)
        ),
    )


if __name__ == "__main__":
    main(measure, name="selection", description=__doc__, options=options)
