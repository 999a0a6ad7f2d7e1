"""Rows per second of the product's import, compared with a minimal script that loads the same
boxes.

The minimal script checks nothing, resolves no keys, and has one index, on the image's id. The
product checks each field, resolves image and class, and maintains unique rows and foreign keys. On
SQLite the script uses `executemany`, on PostgreSQL COPY.

PostgreSQL has two more measurements. One is a COPY of checked and resolved rows into a table with
the same keys as the product's: the time that the server alone needs for the product's result. The
other is the import during a running campaign, whose readers must not wait, so keys are not dropped.
"""

import argparse
import csv
import sqlite3
import tempfile
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Box, Campaign, CampaignStatus, Selection
from annotate.services import imports
from annotate.services.teams import first_team
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds
from benchmarks.openimages_files import BOX_HEADER, REAL_BOXES, Files, write_files

SHORT_BOXES = 200_000
SPLIT = "validation"
TYPES = ["text"] * 3 + ["double precision"] * 5 + ["integer"] * 5
AIM = 1.5


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, help=f"boxes (default: {SHORT_BOXES})")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best is shown")


def measure(chosen: argparse.Namespace) -> Report:
    rows = chosen.rows or (REAL_BOXES if chosen.full else SHORT_BOXES)
    bare, ours, keyed = [], [], []
    beside_campaign = None
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
            if connection.vendor == "postgresql":
                keyed.append(copy_with_keys(folder / "resolved.csv"))
        again = seconds(lambda: import_boxes(files))
        kept = Box.objects.count()
        if connection.vendor == "postgresql":
            remove_boxes()
            start_campaign()
            beside_campaign = seconds(lambda: import_boxes(files))
    found = report(rows, kept, reading, images, min(bare), min(ours), again)
    if beside_campaign is not None:
        add_server_lines(found, min(ours), min(keyed), beside_campaign)
    return found


def add_server_lines(found: Report, ours: float, keyed: float, beside_campaign: float) -> None:
    keyed_ratio, campaign_ratio = ratio(ours, keyed), ratio(beside_campaign, ours)
    seconds_of = "{:.2f} s".format
    found.lines += [
        Line("import of boxes", seconds_of(ours), f"{seconds_of(keyed)}, with keys", keyed_ratio),
        Line(
            "while a campaign runs", seconds_of(beside_campaign), "while none does", campaign_ratio
        ),
    ]
    found.figures |= {"ratio_to_copy_with_keys": keyed_ratio, "ratio_of_campaign": campaign_ratio}


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


def copy_with_keys(resolved: Path) -> float:
    """Seconds to load our table's rows from a file into another table, including the creation of
    its keys."""
    table = Box._meta.db_table
    columns = ", ".join(imports.BOXES.columns(imports.BOXES.fields))
    with connection.cursor() as cursor, resolved.open("w", encoding="utf-8") as out:
        cursor.copy_expert(
            f"COPY (SELECT {columns} FROM {table} ORDER BY id) TO STDOUT (FORMAT csv)", out
        )
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE conrelid = %s::regclass ORDER BY contype = 'p' DESC, conname",
            [table],
        )
        keys = ", ".join(
            f'ADD CONSTRAINT "keyed_{name}" {rule}' for name, rule in cursor.fetchall()
        )

    def copy() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS keyed")
            cursor.execute(f"CREATE TABLE keyed (LIKE {table} INCLUDING IDENTITY)")
            with resolved.open(encoding="utf-8") as file:
                cursor.copy_expert(f"COPY keyed ({columns}) FROM STDIN (FORMAT csv)", file)
            cursor.execute(f"ALTER TABLE keyed {keys}")

    return seconds(copy)


def start_campaign() -> None:
    now = timezone.now()
    team = first_team(at=now)
    selection = Selection.objects.create(
        team=team, name="none", split=SPLIT, count=0, sample=1, seed=0, created_at=now
    )
    Campaign.objects.create(
        team=team,
        slug="running",
        kind="caption",
        status=CampaignStatus.RUNNING,
        endpoint="local",
        selection=selection,
        budget=0,
        config_json={},
        created_at=now,
    )


if __name__ == "__main__":
    main(measure, name="import_openimages", description=__doc__, options=options)
