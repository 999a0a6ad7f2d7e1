"""Rows per second of the product's import, compared with a minimal script that loads the same
boxes.

The minimal script checks nothing, resolves no keys, and has one index, on the image's id. The
product checks each field, resolves image and class, and maintains unique rows and foreign keys. On
SQLite the script uses `executemany`, on PostgreSQL COPY.
"""

import argparse
import csv
import sqlite3
import tempfile
from pathlib import Path

from django.db import connection, transaction

from annotate.models import Box
from annotate.services import imports
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds
from benchmarks.openimages_files import REAL_BOXES, Files, write_files
from simulation.scenes.dataset import BOX_HEADER

SHORT_BOXES = 200_000
SPLIT = "validation"
TYPES = ["text"] * 3 + ["double precision"] * 5 + ["integer"] * 5
AIM = 1.5


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


if __name__ == "__main__":
    main(measure, name="import_openimages", description=__doc__, options=options)
