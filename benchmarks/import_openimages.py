"""Rows per second of the product's import, compared with a minimal script that loads the same
boxes.

The minimal script checks nothing, resolves no keys, and has one index, on the image's id. The
product checks each field, resolves image and class, and maintains unique rows and foreign keys. On
SQLite the script uses `executemany`, on PostgreSQL COPY.
"""

import argparse
import csv
import random
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection, transaction

from annotate.models import Box
from annotate.services import imports
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds
from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER

CLASSES = 600
# The numbers of the validation and test files together: 303,980 and 937,327 rows.
REAL_BOXES = 1_241_307
BOXES_PER_IMAGE = 7.4
SHORT_BOXES = 200_000
SPLIT = "validation"
TYPES = ["text"] * 3 + ["double precision"] * 5 + ["integer"] * 5
AIM = 1.5


class Files(NamedTuple):
    classes: Path
    images: Path
    boxes: Path


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, help=f"boxes (default: {SHORT_BOXES})")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best is shown")


def measure(chosen: argparse.Namespace) -> Report:
    rows = chosen.rows or (REAL_BOXES if chosen.full else SHORT_BOXES)
    bare, ours = [], []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name, scratch_database():
        folder = Path(name)
        files = write_files(folder, boxes=rows)
        imports.import_classes(path=files.classes)
        images = seconds(lambda: imports.import_images(path=files.images, split=SPLIT))
        reading = seconds(lambda: read(files))
        # They alternate, so that other load on the machine affects both.
        for _ in range(chosen.rounds):
            bare.append(seconds(lambda: load_barely(files, folder)))
            remove_boxes()
            ours.append(seconds(lambda: import_boxes(files)))
        again = seconds(lambda: import_boxes(files))
        kept = Box.objects.count()
    return report(rows, kept, reading, images, min(bare), min(ours), again)


def report(
    rows: int, kept: int, reading: float, images: float, bare: float, ours: float, again: float
) -> Report:
    def pace(time: float) -> str:
        return f"{rows / time:,.0f} rows/s ({time:.2f} s)"

    return Report(
        lines=[
            Line("reading alone", pace(reading), "the bare script", ratio(reading, bare)),
            Line("import of boxes", pace(ours), f"{pace(bare)}, bare", ratio(ours, bare), AIM),
            Line("the same import again", pace(again), "the first time", ratio(again, ours)),
        ],
        figures={
            "rows": rows,
            "rows_kept": kept,
            "bare_rows_per_second": round(rows / bare),
            "rows_per_second": round(rows / ours),
            "again_rows_per_second": round(rows / again),
            "image_seconds": round(images, 2),
            "ratio": ratio(ours, bare),
        },
    )


def read(files: Files) -> None:
    with files.boxes.open(newline="", encoding="utf-8") as file:
        for _ in csv.reader(file):
            pass


def import_boxes(files: Files) -> None:
    imports.import_boxes(path=files.boxes, split=SPLIT)


def remove_boxes() -> None:
    """Empty the table; on PostgreSQL with TRUNCATE, because dead rows would slow down later
    inserts."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {Box._meta.db_table} RESTART IDENTITY")
        else:
            cursor.execute(f"DELETE FROM {Box._meta.db_table}")


def load_barely(files: Files, folder: Path) -> None:
    if connection.vendor == "postgresql":
        copy_barely(files)
    else:
        insert_barely(files, folder / "bare.sqlite3")


def create_table() -> tuple[str, str]:
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(BOX_HEADER, TYPES, strict=True))
    return f"CREATE TABLE bare ({columns})", 'CREATE INDEX bare_image ON bare ("ImageID")'


def insert_barely(files: Files, path: Path) -> None:
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    for statement in create_table():
        database.execute(statement)
    with files.boxes.open(newline="", encoding="utf-8") as file, database:
        rows = csv.reader(file)
        next(rows)
        database.executemany(f"INSERT INTO bare VALUES ({', '.join('?' * len(BOX_HEADER))})", rows)
    database.close()


def copy_barely(files: Files) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bare")
        for statement in create_table():
            cursor.execute(statement)
        with files.boxes.open(encoding="utf-8") as file:
            cursor.copy_expert("COPY bare FROM STDIN (FORMAT csv, HEADER)", file)


def write_files(folder: Path, *, boxes: int, seed: int = 1) -> Files:
    """Write class descriptions, image metadata and this many boxes, in the order of the images and
    in the format of Open Images."""
    generator = random.Random(seed)
    labels = [f"/m/0{number:05}" for number in range(CLASSES)]
    images = round(boxes / BOXES_PER_IMAGE)
    keys = sorted(f"{generator.getrandbits(64):016x}" for _ in range(images))
    files = Files(folder / "classes.csv", folder / "images.csv", folder / "boxes.csv")
    _write(files.classes, [], ([label, f"Class {label[4:]}"] for label in labels))
    _write(files.images, IMAGE_HEADER, map(_image_row, keys))
    _write(files.boxes, BOX_HEADER, _box_rows(generator, keys, labels, boxes))
    return files


def _write(path: Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        if header:
            writer.writerow(header)
        writer.writerows(rows)


def _image_row(key: str) -> list[Any]:
    photo = int(key, 16) % 10**10
    return [
        key,
        "validation",
        f"https://farm4.photos.example/8524/{photo}_{key[:10]}_o.jpg",
        f"https://www.photos.example/photos/{photo % 10**8}/{photo}",
        "https://creativecommons.org/licenses/by/2.0/",
        f"https://www.photos.example/people/{photo % 10**8}/",
        f"Photographer {photo % 10**8}",
        f"IMG_{photo % 10**4}",
        photo % 10**7,
        f"{key}Jz5kUQ==",
        f"https://c5.photos.example/9/8524/{photo}_{key[:10]}_z.jpg",
        0,
    ]


def _box_rows(
    generator: random.Random, keys: list[str], labels: list[str], boxes: int
) -> Iterator[list[Any]]:
    """Boxes image by image. A few classes are common and most are rare, as in the real files."""
    places = sorted(generator.randrange(len(keys)) for _ in range(boxes))
    for place in places:
        left, right = sorted((generator.random(), generator.random()))
        top, bottom = sorted((generator.random(), generator.random()))
        edges = [f"{edge:.6f}" for edge in (left, right, top, bottom)]
        flags = [generator.getrandbits(1) for _ in range(5)]
        label = labels[int(len(labels) * generator.random() ** 3)]
        yield [keys[place], "xclick", label, 1, *edges, *flags]


if __name__ == "__main__":
    main(measure, name="import_openimages", description=__doc__, options=options)
