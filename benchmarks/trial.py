"""What a trial of new workers keeps out, and what it costs in checks and in waiting.

With `[review] trial` a worker writes that many captions until the first ones (`first`) are judged.
If one of these is bad, the whole trial is judged, and a worker with more than one bad caption is
stopped. The queue goes on from there. The crowds are those of `benchmarks.spot_checks`: made-up
workers, captions dealt at random, a reviewer who is always right. With `--full`, 20 crowds of each
sort.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import fmean, median

import numpy as np

from benchmarks.crowds import Crowd
from benchmarks.desks import Desk, check_by_worth
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.spot_checks import SEEDS, SORTS, Sort, flags_of
from qualcontrol.services.trials import SLIPS_FORGIVEN

# Checks after which both are compared, those of the trial included.
AT = 400
# What `first` and `trial` say.
TRIALS = ((1, 5), (2, 5), (3, 5))
NAMES = [name for name in SORTS if "mostly few" in name]
# Of the waiting: seconds for a caption, and for the site to learn of it, or a worker of a verdict.
WRITING, SYNC = 45, 60
# How often somebody judges all that waits, in minutes.
VISITS = {"every 5 minutes": 5, "every hour": 60, "every 4 hours": 240, "once a day": 1440}
ARRIVALS = 20_000


@dataclass(frozen=True)
class Trial:
    """A crowd as the trial left it: without what the stopped did not get to write."""

    crowd: Crowd
    judged: list[int]
    stopped: set[int]
    bad_kept_out: int

    @property
    def good_stopped(self) -> set[int]:
        return self.stopped - self.crowd.manners.keys()


def hold_trial(crowd: Crowd, *, first: int, trial: int) -> Trial:
    """Judge the crowd's first captions as a campaign with these settings has it."""
    work: dict[int, list[int]] = defaultdict(list)
    for number, caption in enumerate(crowd.captions):
        work[caption.worker].append(number)
    judged: set[int] = set()
    stopped: set[int] = set()
    never_written: set[int] = set()
    for worker, numbers in work.items():
        looked_at = numbers[:first]
        if any(crowd.captions[number].is_bad for number in looked_at):
            looked_at = numbers[:trial]
        judged.update(looked_at)
        if sum(crowd.captions[number].is_bad for number in looked_at) > SLIPS_FORGIVEN:
            stopped.add(worker)
            never_written.update(numbers[trial:])
    written = [n for n in range(len(crowd.captions)) if n not in never_written]
    place = {number: new for new, number in enumerate(written)}
    return Trial(
        crowd=Crowd([crowd.captions[number] for number in written], crowd.manners),
        judged=[place[number] for number in sorted(judged)],
        stopped=stopped,
        bad_kept_out=sum(crowd.captions[number].is_bad for number in never_written),
    )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, help="crowds of each sort (2; with --full 20)")
    parser.add_argument("--sort", action="append", choices=NAMES, help="only this sort of crowd")


def measure(options: argparse.Namespace) -> Report:
    seeds = options.seeds or SEEDS[options.full]
    report = Report(figures={"seeds": seeds})
    for name in options.sort or NAMES:
        lines, figures = compare(name, SORTS[name], seeds)
        report.lines += lines
        report.figures[name] = figures
    lines, report.figures["waits"] = waiting()
    report.lines += lines
    return report


@dataclass(frozen=True)
class Outcome:
    """What trials of these settings came to, over several crowds."""

    left: float  # after AT checks, those of the trial included
    left_by_trial: float
    checks: float  # of the trial
    bad_kept_out: float  # of all bad captions, those that the stopped did not get to write
    good_stopped: float  # of all good workers


def compare(name: str, sort: Sort, seeds: int) -> tuple[list[Line], dict[str, object]]:
    """One sort of crowd with and without trials."""
    crowds = [sort.crowd(seed) for seed in range(seeds)]
    before = fmean(Desk(crowd, 0).share_left(0) for crowd in crowds)
    without = fmean(_left(Desk(crowd, seed), sort) for seed, crowd in enumerate(crowds))
    what = f"{name}: bad captions left after {AT} checks"
    lines = [Line(what, f"{without:.2%}", f"before any {before:.2%}")]
    figures: dict[str, object] = {"before": before, "without": without}
    for first, trial in TRIALS:
        held = [hold_trial(crowd, first=first, trial=trial) for crowd in crowds]
        outcome = _outcome(held, crowds, sort)
        lines += [
            Line(
                f"  with first = {first}, trial = {trial}",
                f"{outcome.left:.2%}",
                f"without {without:.2%}",
                ratio(outcome.left, without),
            ),
            Line(
                "    by the trial alone",
                f"{outcome.left_by_trial:.2%} after {outcome.checks:,.0f} checks",
                f"bad captions never written {outcome.bad_kept_out:.0%}, "
                f"good workers stopped {outcome.good_stopped:.2%}",
            ),
        ]
        figures[f"{first},{trial}"] = asdict(outcome)
    return lines, figures


def _outcome(held: Sequence[Trial], crowds: Sequence[Crowd], sort: Sort) -> Outcome:
    alone = [_desk(trial, seed) for seed, trial in enumerate(held)]
    bad = sum(caption.is_bad for crowd in crowds for caption in crowd.captions)
    good = sum(len(desk.work) - len(desk.crowd.manners) for desk in alone)
    return Outcome(
        left=fmean(_left(_desk(trial, seed), sort) for seed, trial in enumerate(held)),
        left_by_trial=fmean(desk.share_left(desk.checks) for desk in alone),
        checks=fmean(desk.checks for desk in alone),
        bad_kept_out=sum(trial.bad_kept_out for trial in held) / bad,
        good_stopped=sum(len(trial.good_stopped) for trial in held) / good,
    )


def _desk(trial: Trial, seed: int) -> Desk:
    """The desk once the trial's captions are judged."""
    desk = Desk(trial.crowd, seed)
    for number in trial.judged:
        desk.judge(number)
    return desk


def _left(desk: Desk, sort: Sort) -> float:
    """The share of bad captions left when the queue has gone on to AT checks."""
    codes = flags_of(desk.crowd) if sort.has_flags else [()] * len(desk.crowd.captions)
    check_by_worth(desk, codes, least=AT, most=AT)
    return desk.share_left(AT)


def waiting() -> tuple[list[Line], dict[str, dict[str, float]]]:
    """How many of the good workers who write more than the trial have to wait, and how long."""
    lines: list[Line] = []
    figures: dict[str, dict[str, float]] = {}
    for first, trial in TRIALS:
        for name, minutes in VISITS.items():
            waits = list(_waits(first, trial, 60 * minutes, random.Random(trial)))
            stopped = [wait for wait in waits if wait > 0]
            low, high = median(stopped) / 60, float(np.quantile(stopped, 0.9)) / 60
            share = len(stopped) / len(waits)
            lines.append(
                Line(
                    f"first = {first}, trial = {trial}, judged {name}: workers who wait",
                    f"{share:.0%}",
                    f"median {low:,.0f} minutes, one in ten more than {high:,.0f}",
                )
            )
            figures[f"{first},{trial},{minutes}"] = {
                "share": share,
                "median_minutes": low,
                "minutes_of_nine_in_ten": high,
            }
    return lines, figures


def _waits(first: int, trial: int, every: int, rng: random.Random) -> Iterator[float]:
    """For how many seconds good workers wait, 0 for those who are judged in time. They begin at
    any time and write without a break; a reviewer comes at regular times and judges all that is
    here."""
    for _ in range(ARRIVALS):
        begins = rng.uniform(0, every)
        known_at = begins + first * WRITING + SYNC
        judged_at = every * ceil(known_at / every)
        yield max(0.0, judged_at + SYNC - (begins + trial * WRITING))


if __name__ == "__main__":
    main(measure, name="trial", description=__doc__, options=options)
