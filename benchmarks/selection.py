"""Selection from a pool of nocaps' size.

Memory is measured in a separate process that reads the pool from the database and selects from it.
"""

import argparse
import multiprocessing
import random
from multiprocessing.connection import Connection

from django.db import connection

from annotate.models import Image, ObjectClass
from annotate.services import imports, selections
from annotate.services.bulk import load
from benchmarks.harness import Line, Report, main, peak_megabytes, ratio, scratch_database, seconds
from corpora.selection.choose import Candidate, choose

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


def measure(_options: argparse.Namespace) -> Report:
    pool = generated_pool(POOL)
    time = seconds(lambda: choose(pool, count=CHOSEN, seed=SEED))
    database_time, megabytes = measure_in_database(pool)
    return Report(
        lines=[
            Line(f"choose {CHOSEN:,} of {POOL:,}", f"{time:.2f} s"),
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
            "seconds": round(time, 2),
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
    main(measure, name="selection", description=__doc__)
