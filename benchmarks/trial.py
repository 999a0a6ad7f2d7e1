"""The effect of a trial for new workers, and its cost in checks and waiting time.

With `[review] trial` a worker writes that many captions until the first ones (`first`) are judged.
If one of these is bad, the whole trial is judged, and a worker with more than one bad caption is
stopped. The product's ranking chooses the later checks. The crowds are those of
`benchmarks.spot_checks`. `--full` runs 20 crowds of each sort.
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
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.review_strategies import SimulatedReview, check_by_expected_value
from benchmarks.spot_checks import SEEDS, SORTS, Sort, flags_of
from qualcontrol.services.policies import SLIPS_FORGIVEN

# Checks after which the reviews are compared, including those of the trial.
AT = 400
# Values of (`first`, `trial`).
TRIALS = ((1, 5), (2, 5), (3, 5))
NAMES = [name for name in SORTS if "mostly few" in name]
# Seconds that a caption takes, and seconds until a sync reports a caption or a verdict.
WRITING, SYNC = 45, 60
# Minutes between two visits of the reviewer.
VISITS = {"every 5 minutes": 5, "every hour": 60, "every 4 hours": 240, "once a day": 1440}
ARRIVALS = 20_000


@dataclass(frozen=True)
class Trial:
    """A crowd after the trial, without the captions that stopped workers did not write."""

    crowd: Crowd
    judged: list[int]
    stopped: set[int]
    bad_kept_out: int

    @property
    def good_stopped(self) -> set[int]:
        return self.stopped - self.crowd.patterns.keys()


def hold_trial(crowd: Crowd, *, first: int, trial: int) -> Trial:
    """Run a trial with these settings on a crowd."""
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
    position = {number: new for new, number in enumerate(written)}
    return Trial(
        crowd=Crowd([crowd.captions[number] for number in written], crowd.patterns),
        judged=[position[number] for number in sorted(judged)],
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
    """The result of trials with these settings, as means over several crowds."""

    left: float  # share of bad captions after AT checks, including those of the trial
    left_by_trial: float  # the same after the trial
    checks: float  # checks of the trial
    bad_kept_out: float  # share of all bad captions that stopped workers did not write
    good_stopped: float  # share of good workers who were stopped


def compare(name: str, sort: Sort, seeds: int) -> tuple[list[Line], dict[str, object]]:
    """Compare reviews of one sort of crowd with and without trials."""
    crowds = [sort.crowd(seed) for seed in range(seeds)]
    before = fmean(SimulatedReview(crowd, 0).share_left(0) for crowd in crowds)
    without = fmean(_left(SimulatedReview(crowd, seed), sort) for seed, crowd in enumerate(crowds))
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
    alone = [_review_after_trial(trial, seed) for seed, trial in enumerate(held)]
    bad = sum(caption.is_bad for crowd in crowds for caption in crowd.captions)
    good = sum(len(review.work) - len(review.crowd.patterns) for review in alone)
    return Outcome(
        left=fmean(
            _left(_review_after_trial(trial, seed), sort) for seed, trial in enumerate(held)
        ),
        left_by_trial=fmean(review.share_left(review.checks) for review in alone),
        checks=fmean(review.checks for review in alone),
        bad_kept_out=sum(trial.bad_kept_out for trial in held) / bad,
        good_stopped=sum(len(trial.good_stopped) for trial in held) / good,
    )


def _review_after_trial(trial: Trial, seed: int) -> SimulatedReview:
    """A review with the verdicts of the trial."""
    review = SimulatedReview(trial.crowd, seed)
    for number in trial.judged:
        review.judge(number)
    return review


def _left(review: SimulatedReview, sort: Sort) -> float:
    """Continue the review to AT checks; returns the share of bad captions left."""
    codes = flags_of(review.crowd) if sort.has_flags else [()] * len(review.crowd.captions)
    check_by_expected_value(review, codes, least=AT, most=AT)
    return review.share_left(AT)


def waiting() -> tuple[list[Line], dict[str, dict[str, float]]]:
    """How many good workers have to wait after the trial, and how long."""
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
    """Seconds that good workers wait; 0 for those who are judged in time. They begin at random
    times and write without a break. A reviewer judges everything every `every` seconds."""
    for _ in range(ARRIVALS):
        begins = rng.uniform(0, every)
        known_at = begins + first * WRITING + SYNC
        judged_at = every * ceil(known_at / every)
        yield max(0.0, judged_at + SYNC - (begins + trial * WRITING))


if __name__ == "__main__":
    main(measure, name="trial", description=__doc__, options=options)
