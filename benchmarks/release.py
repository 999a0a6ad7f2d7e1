"""Time and memory to freeze a release of nocaps' size: 15,100 images with eleven captions each."""

import argparse

from django.utils import timezone

from annotate.models import ReleasedCaption
from annotate.services import releases
from benchmarks.campaigns import add_captions, make_campaign, make_workers, settle_down
from benchmarks.harness import Line, Report, main, peak_megabytes, scratch_database, seconds

IMAGES, CAPTIONS = 15_100, 11


def measure(_options: argparse.Namespace) -> Report:
    with scratch_database():
        campaign = make_campaign(name="release", images=IMAGES, wanted=CAPTIONS)
        add_captions(campaign, make_workers(727), each=CAPTIONS)
        settle_down()
        before = peak_megabytes()
        taken = seconds(
            lambda: releases.freeze(campaign=campaign, name="release", seed=1, at=timezone.now())
        )
        memory = peak_megabytes() - before
        rows = ReleasedCaption.objects.count()
    return Report(
        [
            Line(f"freeze {IMAGES:,} images", f"{taken:.1f} s", f"{rows / taken:,.0f} captions/s"),
            Line("memory on top", f"{memory:.0f} MB"),
        ],
        {"captions": rows, "freeze_s": round(taken, 2), "memory_mb": round(memory)},
    )


if __name__ == "__main__":
    main(measure, name="release", description=__doc__)
