"""Export time of 166,100 captions (15,100 images with eleven each, as in nocaps), compared with
`json.dump` of the same rows from memory, and with Turkle's export. Then time and peak memory of
every format, compared with pandas."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotate.exports.formats import FORMATS
from annotate.kinds.caption.export import write_captions
from annotate.models import Release
from annotate.services import releases
from benchmarks import turkle_comparison as turkle
from benchmarks.campaigns import add_captions, make_campaign, make_workers, settle_down
from benchmarks.harness import Line, Report, main, ratio, scratch_database, seconds

IMAGES, CAPTIONS = 15_100, 11
REPEATS = 3
AIM = 3.0
MOST_SECONDS, MOST_MB = 60, 500
TURKLE_ROWS = 3_000


def measure(options: argparse.Namespace) -> Report:
    with (
        scratch_database() as database,
        tempfile.TemporaryDirectory(prefix="benchmark-") as folder,
    ):
        release = _release()
        out = Path(folder)
        write_captions(release, out)
        ours = dump = float("inf")
        for _ in range(REPEATS):
            ours = min(ours, seconds(lambda: write_captions(release, out)))
            dump = min(dump, _dump_again(out))
        formats = {name: _format(database, name, out / name) for name in FORMATS}
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
    for name, found in formats.items():
        report.lines += _lines(name, found)
    turkle.compare(
        report,
        options,
        key="export_rows_per_s",
        what="export, captions per second",
        ours=rows / ours,
        tasks=TURKLE_ROWS,
        more_is_better=True,
    )
    return report


def _format(database: str, name: str, folder: Path) -> dict[str, Any]:
    """The figures of one format, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.one_export", database, name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _lines(name: str, found: dict[str, Any]) -> list[Line]:
    others = "" if found["pandas_s"] is None else f"; pandas {found['pandas_s']:.2f} s"
    took, peak = found["seconds"], found["peak_mb"]
    about = f"{name}, {found['size_mb']} MB"
    return [
        Line(about, f"{took:.2f} s", f"{MOST_SECONDS} s{others}", ratio(took, MOST_SECONDS), 1),
        Line(f"{name}, peak memory", f"{peak} MB", f"{MOST_MB} MB", ratio(peak, MOST_MB), 1),
        Line(f"{name} as a ZIP archive", f"{found['zip_s']:.2f} s"),
    ]


def _release() -> Release:
    campaign = make_campaign(name="export", images=IMAGES, wanted=CAPTIONS)
    add_captions(campaign, make_workers(727), each=CAPTIONS)
    settle_down()
    return releases.freeze(campaign=campaign, name="export", seed=1, at=timezone.now())


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
    main(measure, name="export", description=__doc__, options=turkle.add_option)
