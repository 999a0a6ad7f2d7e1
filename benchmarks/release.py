"""Time and memory to freeze a release of nocaps' size: 15,100 images with eleven captions each.

It is compared with one INSERT … SELECT of the same images and captions for another release. On
SQLite the times are processor time, so other load matters little. PostgreSQL works in its own
process, so there they are the time that passes.
"""

import argparse
from collections.abc import Callable
from time import process_time

from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Campaign, Release, ReleasedCaption, ReleasedImage
from benchmarks.campaigns import add_captions, make_campaign, make_workers
from benchmarks.harness import (
    Line,
    Report,
    main,
    peak_megabytes,
    ratio,
    scratch_database,
    seconds,
    settle_down,
)
from qualcontrol.services.releasing import release_campaign

IMAGES, CAPTIONS = 15_100, 11
# The most time, compared with the copy.
MOST_TIMES = 3.0


def measure(_options: argparse.Namespace) -> Report:
    with scratch_database():
        campaign = make_campaign(name="release", images=IMAGES, wanted=CAPTIONS)
        add_captions(campaign, make_workers(727), each=CAPTIONS)
        settle_down()
        before = peak_megabytes()
        taken = spent(
            lambda: release_campaign(campaign=campaign, name="release", seed=1, at=timezone.now())
        )
        memory = peak_megabytes() - before
        rows = ReleasedCaption.objects.count()
        copied = spent(lambda: copy(campaign))
    return Report(
        [
            Line(
                f"freeze {IMAGES:,} images",
                f"{taken:.1f} s, {rows / taken:,.0f} captions/s",
                f"INSERT … SELECT: {copied:.1f} s",
                ratio(taken, copied),
                MOST_TIMES,
            ),
            Line("memory on top", f"{memory:.0f} MB"),
        ],
        {
            "captions": rows,
            "freeze_s": round(taken, 2),
            "copy_s": round(copied, 2),
            "memory_mb": round(memory),
        },
    )


def spent(action: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    if connection.vendor != "sqlite":
        return seconds(action)
    began = process_time()
    action()
    return process_time() - began


@transaction.atomic
def copy(campaign: Campaign) -> None:
    """Copy the only release's rows to another release, inside the database."""
    first = Release.objects.get()
    second = Release.objects.create(
        name="copy", campaign=campaign, seed=1, context={}, created_at=timezone.now()
    )
    images, captions = ReleasedImage._meta.db_table, ReleasedCaption._meta.db_table
    with connection.cursor() as cursor:
        columns = "task_id, number, record, details, is_hidden"
        cursor.execute(
            f"INSERT INTO {images} (release_id, {columns}) "
            f"SELECT %s, {columns} FROM {images} WHERE release_id = %s ORDER BY id",
            [second.pk, first.pk],
        )
        columns = "response_id, worker_number, role, text, language, seconds, primed"
        cursor.execute(
            f"INSERT INTO {captions} (image_id, {columns}) SELECT copied.id, {columns} "
            f"FROM {captions} caption JOIN {images} image ON image.id = caption.image_id "
            f"JOIN {images} copied ON copied.number = image.number AND copied.release_id = %s "
            "ORDER BY caption.id",
            [second.pk],
        )


if __name__ == "__main__":
    main(measure, name="release", description=__doc__)
