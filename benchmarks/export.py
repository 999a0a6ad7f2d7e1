"""Export time of 166,100 captions (15,100 images with eleven each, as in nocaps), compared with
`json.dump` of the same rows from memory; and the time of every format and of its ZIP archive."""

import argparse
import json
import tempfile
from collections import deque
from pathlib import Path

from django.utils import timezone

from annotate.exports.formats import FORMATS
from annotate.kinds import KINDS
from annotate.kinds.exporting import content_of, export_archive, write_export
from annotate.models import Release
from benchmarks.campaigns import add_captions, make_campaign, make_workers
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds, settle_down
from qualcontrol.services.releasing import release_campaign

IMAGES, CAPTIONS = 15_100, 11
REPEATS = 3
AIM = 3.0
MOST_SECONDS = 60


def measure(_options: argparse.Namespace) -> Report:
    with (
        scratch_database(),
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
    ):
        release = _release()
        out = Path(folder)
        KINDS["caption"].write(release, out)
        ours = dump = float("inf")
        for _ in range(REPEATS):
            ours = min(ours, seconds(lambda: KINDS["caption"].write(release, out)))
            dump = min(dump, _dump_again(out))
        formats = {name: _format(release, name, out / name) for name in FORMATS}
    rows = IMAGES * CAPTIONS
    report = Report(
        [
            Line(
                f"export of {rows:,} captions",
                f"{ours:.2f} s",
                f"json.dump {dump:.2f} s",
                ratio(ours, dump),
                AIM,
            )
        ],
        {
            "captions": rows,
            "export_s": round(ours, 3),
            "json_dump_s": round(dump, 3),
            "formats": formats,
        },
    )
    for name, of_format in formats.items():
        took = of_format["seconds"]
        report.lines += [
            Line(name, f"{took:.2f} s", f"{MOST_SECONDS} s", ratio(took, MOST_SECONDS), 1),
            Line(f"{name} as a ZIP archive", f"{of_format['zip_s']:.2f} s"),
        ]
    return report


def _format(release: Release, name: str, folder: Path) -> dict[str, float]:
    """The seconds of one format's files, and of their ZIP archive."""
    content, chosen = content_of(release), FORMATS[name]
    return {
        "seconds": round(seconds(lambda: write_export(content, chosen, folder)), 2),
        "zip_s": round(seconds(lambda: deque(export_archive(content, chosen), maxlen=0)), 2),
    }


def _release() -> Release:
    campaign = make_campaign(name="export", images=IMAGES, wanted=CAPTIONS)
    add_captions(campaign, make_workers(727), each=CAPTIONS)
    settle_down()
    return release_campaign(campaign=campaign, name="export", seed=1, at=timezone.now())


def _dump_again(folder: Path) -> float:
    """The seconds that `json.dump` takes for the files' content from memory."""
    contents = [
        (path, json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("*.json")
    ]

    def dump() -> None:
        for path, value in contents:
            with path.with_suffix(".dump").open("w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False)

    return seconds(dump)


if __name__ == "__main__":
    main(measure, name="export", description=__doc__)
