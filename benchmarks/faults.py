"""Small campaigns while everything fails: do they finish, and do the invariants hold?

Each run is a campaign of a few dozen captions in an installation of real processes. A schedule
drawn from the run's seed kills the sites, the reconciler, Celery's workers and beat, the
marketplace, PostgreSQL and Redis; cuts connections to the marketplace and the database; lets the
marketplace throttle, and fail before and after a call's effect; repeats and reorders events; fills
the disk; turns the marketplace's clock; replaces replies with rubbish; runs a second reconciler;
excludes and reinstates workers, who appeal, withdraw their work, and submit what fits no task; and
forges task pages. Three reviewers judge, ask each other, and decide what is paid. The budget is
tight all the time. Every third campaign has texts in rounds, and in the others some images cannot
be described.

Then all parts run again, and the campaign must finish with a release, which later withdrawals and
exclusions do not change. Every invariant is checked by SQL. If one does not hold, the seed is
printed, and the exit status is 1. Without `--seed`, the first seed is the date's. The same seed
draws the same schedule; the processes' timing differs.

PostgreSQL, Redis, the disk and the queue belong to the benchmark. `--sqlite` runs the embedded
installation: SQLite and the reconciler, without Celery and Redis.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from subprocess import TimeoutExpired
from typing import Any

import psycopg2

from benchmarks.fault_types import AFTER_RELEASE, CALLS, FAULTS, Fault, Situation
from benchmarks.fragile import Fragile, fragile_installation
from benchmarks.harness import BUILD, Line, Report, main
from benchmarks.lean_browser import NoAnswer, NothingLeft, NotOffered, Unexpected
from benchmarks.small_campaign import RESPONSES, SmallCampaign
from hits.local import ProcessFailed

RUNS, FULL_RUNS = 10, 200
FAULTS_OF_A_RUN = 10
# How many of them happen while the campaign is published, and while it is released.
AT_PUBLICATION, AT_RELEASE = (0, 0, 1, 2), (0, 0, 1, 2)
# What a fault may meet because of another one, or because the work is done.
EXPECTED = (
    NoAnswer,
    NothingLeft,
    NotOffered,
    Unexpected,
    OSError,
    psycopg2.Error,
    TimeoutExpired,
)
# How often the invariants are looked at until they hold.
LOOKS = 10


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, help=f"runs (default: {RUNS}, --full: {FULL_RUNS})")
    parser.add_argument(
        "--seed",
        type=int,
        default=100 * int(f"{date.today():%Y%m%d}"),
        help="seed of the first run (default: the date, as 20261231, and two zeros)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="begin no further run this long after the installation is ready",
    )
    parser.add_argument("--sqlite", action="store_true", help="the embedded installation")


def measure(chosen: argparse.Namespace) -> Report:
    runs = chosen.runs or (FULL_RUNS if chosen.full else RUNS)
    database = "sqlite" if chosen.sqlite else "postgresql"
    done: list[Run] = []
    began = time.monotonic()
    with fragile_installation(on_sqlite=chosen.sqlite) as fragile:
        print(f"installed in {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
        ready = time.monotonic()
        impossible = [fault.name for fault in FAULTS if not fault.is_possible(fragile)]
        for seed in range(chosen.seed, chosen.seed + runs):
            run = Run(fragile, seed)
            try:
                run.take()
            finally:
                fragile.keep_logs(BUILD / "faults" / database)
            done.append(run)
            print(run.line, file=sys.stderr, flush=True)
            if run.broken or time.monotonic() - ready > chosen.seconds:
                break
    report = _report(done, database, impossible)
    if bad := report.figures["broken"]:
        report.print_table("faults")
        print(f"The logs are in {BUILD / 'faults' / database}.", file=sys.stderr)
        sys.exit("\n".join(["An invariant is broken:", *bad]))
    return report


def _report(done: "Sequence[Run]", database: str, impossible: list[str]) -> Report:
    faults = sum((run.noted for run in done), Counter[str]())
    seen = sum((run.campaign.seen for run in done), Counter[str]())
    met = sum((run.campaign.surprises for run in done), Counter[str]())
    bad = [f"seed {run.seed}: {line}" for run in done for line in run.broken]
    seconds = sum(run.seconds for run in done)
    processor = sum(run.processor_seconds for run in done)
    seeds = f"{done[0].seed} to {done[-1].seed}"
    figures: dict[str, Any] = {
        "runs": len(done),
        "seeds": [done[0].seed, done[-1].seed],
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        "captions": sum(run.captions for run in done),
        "faults": dict(faults),
        "seen": dict(seen),
        "met": dict(met.most_common()),
        "not_possible": impossible,
        "broken": bad,
    }
    lines = [
        Line(f"campaigns on {database}", f"{len(done)}", f"seeds {seeds}"),
        Line("seconds of a campaign", f"{seconds / len(done):.1f}"),
        Line("processor seconds of a campaign", f"{processor / len(done):.1f}"),
        Line("captions", f"{figures['captions']}"),
        *(Line(name, f"{times}", "fault") for name, times in sorted(faults.items())),
        *(Line(name, f"{times}", "seen") for name, times in sorted(seen.items())),
        *(Line(name, "0", "not in this installation") for name in impossible),
        Line("broken invariants", f"{len(bad)}", "none", float(len(bad)), 0),
    ]
    return Report(lines, figures, database)


@dataclass
class Run:
    """One campaign with its faults."""

    fragile: Fragile
    seed: int
    noted: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)
    captions: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.rng = random.Random(f"faults/{self.seed}")
        self.campaign = SmallCampaign(self.fragile, f"run-{self.seed}", self.seed)
        self.situation = Situation(self.fragile, self.campaign, self.rng, self.noted)

    @property
    def line(self) -> str:
        state = "; ".join(self.broken) or "ok"
        parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in self.parts.items())
        names = ", ".join(f"{name} {times}" for name, times in self.noted.items())
        return (
            f"seed {self.seed}: {self.captions} captions, {self.seconds:.1f} s ({parts}), "
            f"{self.processor_seconds:.1f} s of processor time, {state} ({names})"
        )

    def take(self) -> None:
        """Publish the campaign, let things fail while it runs, and finish it."""
        began, used = time.monotonic(), self.fragile.processor_seconds()
        first, middle, last = self.schedule()
        try:
            self.fragile.whole.hook("clock", reset=True)
            self.campaign.ask_to_publish()
            self._fail(first)
            self._mend()
            self.campaign.wait_until_published()
            self._end_part("publish", began)
            with self.campaign.crowd():
                self._fail(middle)
                self._mend()
                self._end_part("fail", began)
                self.campaign.complete()
            # The reviewers' last verdicts may have discarded responses.
            while not self.campaign.is_complete:
                with self.campaign.crowd():
                    self.campaign.complete()
            self._end_part("complete", began)
            self.campaign.ask_for_release()
            self._fail(last)
            self._mend()
            self.campaign.wait_until_released()
            exported = self.campaign.exported()
            self._fail(AFTER_RELEASE)
            self.campaign.finish()
            self._end_part("release", began)
            self.captions = self.campaign.number(RESPONSES)
            self.broken = self._broken() + self.fragile.server_errors()
            self.broken += self.campaign.wrong_exports(exported)
            if self.campaign.exported() != exported:
                self.broken.append("10. What came after the release has changed its files.")
        except ProcessFailed as error:
            self.broken = [f"11. The campaign did not finish: {error}"]
        self._end_part("check", began)
        self.seconds = time.monotonic() - began
        self.processor_seconds = self.fragile.processor_seconds() - used

    def _end_part(self, name: str, began: float) -> None:
        self.parts[name] = time.monotonic() - began - sum(self.parts.values())

    def schedule(self) -> tuple[list[Fault], list[Fault], list[Fault]]:
        """The faults while the campaign is published, while people work, and while it is
        released."""
        possible = [fault for fault in FAULTS if fault.is_possible(self.fragile)]
        drawn = self.rng.sample(possible, min(FAULTS_OF_A_RUN, len(possible)))
        anywhere = [fault for fault in drawn if not fault.needs_work]
        first = anywhere[: self.rng.choice(AT_PUBLICATION)]
        last = anywhere[len(anywhere) - self.rng.choice(AT_RELEASE) :]
        middle = [fault for fault in drawn if fault not in [*first, *last]]
        return first, sorted(middle, key=lambda fault: not fault.needs_hit), last

    def _fail(self, faults: Sequence[Fault]) -> None:
        """Let parts fail, one after the other."""
        for fault in faults:
            # A site that was starting when the database was killed has ended since.
            self.fragile.start_again()
            with suppress(*EXPECTED):
                fault.happens(self.situation)
            time.sleep(self.rng.uniform(0.1, 1.0))

    def _mend(self) -> None:
        for kind, times in self.fragile.mend().items():
            self.noted[CALLS[kind]] += times

    def _broken(self) -> list[str]:
        """The broken invariants. A sync may be under way, so what is broken has to stay so."""
        for _ in range(LOOKS):
            if not (broken := self.fragile.whole.broken()):
                break
            time.sleep(2)
        return broken


if __name__ == "__main__":
    main(measure, name="faults", description=__doc__, options=options)
