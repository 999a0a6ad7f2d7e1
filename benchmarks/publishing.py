"""How long it takes to publish a campaign's HITs at the embedded marketplace.

The marketplace and the reconciler run as processes, on new databases. One sync plans and creates
the HITs, each by a call of the API, as after `publish`. With `--full` these are the 18,456 HITs of
nocaps; otherwise a part of them, from whose rate the time for all is computed.
"""

import argparse
from time import perf_counter

from django.db import connection

from benchmarks.caption_cost_steps import CAPTIONS, SLOTS
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.processes import DATABASE, MARKETPLACE, RECONCILER, running, spent

# Images of the campaign: a part, and those of nocaps.
SHORT, FULL = 400, 15_100
NOCAPS_HITS = -(-FULL * CAPTIONS // SLOTS)
MOST_SECONDS = 360.0


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database", choices=["sqlite", "postgresql"], help="measure this database only"
    )


def measure(options: argparse.Namespace) -> Report:
    images = FULL if options.full else SHORT
    vendors = [options.database] if options.database else sorted({"sqlite", connection.vendor})
    report = Report(figures={"images": images})
    for vendor in vendors:
        _publish(report, vendor, images)
    return report


def _publish(report: Report, vendor: str, images: int) -> None:
    with running(vendor) as processes:
        processes.ask("prepare", images=images)
        began = perf_counter()
        cost, answer = spent(processes, lambda: processes.ask("create_hits"))
        seconds = perf_counter() - began
    hits = answer["done"]
    for_all = seconds * NOCAPS_HITS / hits
    milliseconds = {
        name: round(1000 * cost.seconds[name] / hits, 2)
        for name in (MARKETPLACE, RECONCILER, DATABASE)
    }
    report.lines += [
        Line(f"{vendor}: {hits:,} HITs", f"{seconds:.1f} s", f"{hits / seconds:.0f} a second"),
        Line(
            f"{vendor}: {NOCAPS_HITS:,} HITs",
            f"{for_all:.0f} s",
            f"{MOST_SECONDS:g} s",
            ratio(for_all, MOST_SECONDS),
            1,
        ),
        *(
            Line(f"{vendor}: processor time of a HIT, {name}", f"{ms:.2f} ms")
            for name, ms in milliseconds.items()
        ),
    ]
    report.figures[vendor] = {
        "hits": hits,
        "seconds": round(seconds, 2),
        "seconds_for_nocaps": round(for_all, 1),
        "statements": round(cost.statements / hits, 2),
        "milliseconds": milliseconds,
    }


if __name__ == "__main__":
    main(measure, name="publishing", description=__doc__, options=options)
