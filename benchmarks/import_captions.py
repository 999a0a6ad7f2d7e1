"""Time, processor time and memory to import the captions of a campaign of nocaps' size.

The captions are generated. Each line has an image, a worker, a sentence, seconds and a time. The
import flags them, draws spot checks and updates the risk model, as `import_captions` does.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import perf_counter, process_time

from django.utils import timezone

from annotate.datasets.collected import Columns
from annotate.models import Response
from benchmarks.campaigns import AT, make_campaign, settle_down
from benchmarks.harness import Line, Report, main, peak_megabytes, ratio, scratch_database
from hits.services.collected import import_collected

CAPTIONS, SHORT_CAPTIONS = 166_100, 16_610
CAPTIONS_PER_IMAGE, WORKERS = 11, 727
# The largest acceptable number of seconds for the full size; in proportion for fewer captions.
MOST_SECONDS = 300
VOCABULARY = """
tall young old brown small happy tired wet white smiling red-haired bearded
man woman child dog cat horse bird girl boy player chef farmer vendor cyclist
holds watches carries paints cleans eats throws repairs sells lifts pushes sees
tall young old brown small broken new wet white wooden green striped
ball guitar bowl kite umbrella book bicycle lamp pizza suitcase camera clock
beach street garden kitchen park market station field bridge harbour roof yard
"""
WORDS = [line.split() for line in VOCABULARY.strip().splitlines()]
MOMENTS = ["at night", "in the rain", "on a sunny day", "before sunrise", "in winter"]


class Samples:
    """Bytes read, seconds and peak memory at each progress report of the import."""

    def __init__(self) -> None:
        self.began, self.read = perf_counter(), 0
        self.rows: list[tuple[int, float, float]] = []

    def __call__(self, read: int) -> None:
        self.read += read
        self.rows.append((self.read, perf_counter() - self.began, peak_megabytes()))

    def at(self, share: float) -> tuple[float, float]:
        """Seconds and megabytes when this share of the file was read."""
        end = self.rows[-1][0]
        _, seconds, memory = next(row for row in self.rows if row[0] >= share * end)
        return seconds, memory


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--captions", type=int, help=f"captions (default: {SHORT_CAPTIONS:,})")


def measure(chosen: argparse.Namespace) -> Report:
    captions = chosen.captions or (CAPTIONS if chosen.full else SHORT_CAPTIONS)
    images = -(-captions // CAPTIONS_PER_IMAGE)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder, scratch_database():
        campaign = make_campaign(name="import", images=images, wanted=CAPTIONS_PER_IMAGE)
        settle_down()
        path = Path(folder) / "captions.jsonl"
        write_captions(path, captions)
        samples, processor = Samples(), process_time()
        intake = import_collected(
            campaign=campaign, path=path, columns=Columns(), at=timezone.now(), progress=samples
        )
        taken, processor = perf_counter() - samples.began, process_time() - processor
        kept = Response.objects.count()
    if not intake.new == kept == captions:
        raise SystemExit(f"{captions} captions written, {intake.new} new, {kept} kept")
    return report(captions, taken, processor, samples)


def report(captions: int, taken: float, processor: float, samples: Samples) -> Report:
    limit = MOST_SECONDS * captions / CAPTIONS
    tenth, first_memory = samples.at(0.1)
    last_tenth = samples.at(1)[0] - samples.at(0.9)[0]
    memory = peak_megabytes()
    return Report(
        [
            Line(
                f"import of {captions:,} captions",
                f"{taken:.1f} s",
                f"{limit:.0f} s",
                ratio(taken, limit),
                1.0,
            ),
            Line("of this process's processor", f"{processor:.1f} s"),
            Line("last tenth", f"{last_tenth:.1f} s", f"first: {tenth:.1f} s"),
            Line(
                "most memory",
                f"{memory:.0f} MB",
                f"{first_memory:.0f} MB after a tenth",
                ratio(memory, first_memory),
            ),
        ],
        {
            "captions": captions,
            "seconds": round(taken, 1),
            "processor_seconds": round(processor, 1),
            "first_tenth_seconds": round(tenth, 1),
            "last_tenth_seconds": round(last_tenth, 1),
            "memory_mb": round(memory),
            "memory_after_a_tenth_mb": round(first_memory),
        },
    )


def write_captions(path: Path, captions: int) -> None:
    """Write JSON lines in rounds over the images, so that each worker's captions are spread over
    the file."""
    rng = random.Random(1)
    images = -(-captions // CAPTIONS_PER_IMAGE)
    with path.open("w", encoding="utf-8") as file:
        for number, sentence in zip(range(captions), sentences(rng), strict=False):
            turn, image = divmod(number, images)
            entry = {
                "image": f"import-{image + 1}",
                "worker": f"A{(image * 7 + turn) % WORKERS:05}",
                "caption": sentence,
                "seconds": rng.randint(15, 120),
                "submitted_at": (AT + timedelta(seconds=number) - timedelta(days=60)).isoformat(),
            }
            file.write(json.dumps(entry) + "\n")


def sentences(rng: random.Random) -> Iterator[str]:
    while True:
        look, subject, act, other, thing, place = map(rng.choice, WORDS)
        moment = rng.choice(MOMENTS)
        yield f"A {look} {subject} {act} a {other} {thing} in the {place} {moment}."


if __name__ == "__main__":
    main(measure, name="import_captions", description=__doc__, options=options)
