"""Time of a report on a release of 15,100 images with 166,100 captions (as in nocaps), beside a
captions file of COCO's validation size (5,000 images, 25,000 captions)."""

import argparse
import json
import random
import tempfile
from pathlib import Path

from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Caption, Release
from annotate.report.build import make_report, write_report
from annotate.report.captions_file import read_dataset
from annotate.report.released import read_release
from annotate.report.sections.base import Inputs
from annotate.services import releases
from benchmarks.campaigns import add_captions, make_campaign, make_workers, settle_down
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds

IMAGES, CAPTIONS = 15_100, 11
OTHER_IMAGES, OTHER_CAPTIONS = 5_000, 5
MOST_SECONDS = 180
# As many words as nocaps' captions have (table 1), drawn with falling frequency.
VOCABULARY = 20_000
WORDS = 11


def measure(options: argparse.Namespace) -> Report:
    share = 1 if options.full else 10
    with scratch_database(), tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        release = _release(IMAGES // share)
        other = _captions_file(Path(folder) / "other.json", OTHER_IMAGES // share)
        took = {"read": 0.0, "measured_and_drawn": 0.0, "written": 0.0}
        inputs: list[Inputs] = []
        took["read"] = seconds(
            lambda: inputs.append(Inputs(read_release(release), read_dataset(other)))
        )
        made = []
        took["measured_and_drawn"] = seconds(lambda: made.append(make_report(inputs[0])))
        took["written"] = seconds(lambda: write_report(made[0], Path(folder) / "report"))
    whole = sum(took.values())
    captions = IMAGES // share * CAPTIONS
    what = f"report on {captions:,} captions"
    limit = f"{MOST_SECONDS} s" if options.full else ""
    line = Line(what, f"{whole:.1f} s", limit, ratio(whole, MOST_SECONDS), 1.0)
    parts = [Line(f"  {name.replace('_', ' ')}", f"{some:.1f} s") for name, some in took.items()]
    figures = {f"{name}_s": round(some, 2) for name, some in took.items()}
    return Report([line, *parts], {"captions": captions, "report_s": round(whole, 2), **figures})


def _release(images: int) -> Release:
    campaign = make_campaign(name="report", images=images, wanted=CAPTIONS)
    add_captions(campaign, make_workers(727), each=CAPTIONS)
    _write_texts()
    settle_down()
    return releases.freeze(campaign=campaign, name="report", seed=1, at=timezone.now())


def _write_texts() -> None:
    """Give the captions different words, which n-grams and vocabulary need."""
    rng = random.Random(1)
    keys = list(Caption.objects.order_by("pk").values_list("pk", flat=True))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE annotate_caption SET text = %s WHERE response_id = %s",
            [(_sentence(rng), key) for key in keys],
        )


def _captions_file(path: Path, images: int) -> Path:
    rng = random.Random(2)
    content = {
        "images": [{"id": number} for number in range(images)],
        "annotations": [
            {"id": place, "image_id": place // OTHER_CAPTIONS, "caption": _sentence(rng)}
            for place in range(images * OTHER_CAPTIONS)
        ],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _sentence(rng: random.Random) -> str:
    """Words whose frequency falls with their number; every tenth word is part of a class name."""
    words = [f"w{int(VOCABULARY ** rng.random())}" for _ in range(WORDS)]
    return f"{' '.join(words)} Class {rng.randrange(600)}."


if __name__ == "__main__":
    main(measure, name="report", description=__doc__)
