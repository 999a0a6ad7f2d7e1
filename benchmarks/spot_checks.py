"""The share of bad captions left after this many spot checks: the product's ranking compared with
two simple strategies.

Crowds of 120 workers write real captions of nocaps and COCO. One worker in six is careless. The
workers are invented, captions are assigned to them at random, and the reviewer is always right.
`--full` runs 20 crowds of each sort.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

import numpy as np

from annotate.kinds.campaign_files import parse_config
from benchmarks.crowds import (
    KNOWN,
    LATE,
    MOSTLY_SPOILED,
    SOURCES,
    SPOILED,
    UNSEEN,
    Crowd,
    Law,
    by_rank,
    gather,
    mostly_few,
    read_captions,
)
from benchmarks.flags import codes_of_captions
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.review_strategies import (
    SimulatedReview,
    Snapshot,
    check_at_random,
    check_by_expected_value,
    check_round_robin,
)

OURS, RANDOM, ROUND_ROBIN = "ours", "random", "round-robin"
OTHERS: dict[str, Callable[..., None]] = {
    RANDOM: check_at_random,
    ROUND_ROBIN: check_round_robin,
}
# The main result is the share of bad captions left after this many checks.
POINTS = (0, 50, 100, 200, 400, 800)
AT = 200
# Every strategy makes at least this many checks.
LEAST = max(POINTS)
# The largest allowed ratio of the share left after AT checks to that of random checks.
AIM = 0.5
# The largest allowed ratio of the checks for the known patterns, by compared strategy.
AIMS = {RANDOM: 0.067, ROUND_ROBIN: 0.167}
SEEDS = {False: 2, True: 20}


@dataclass(frozen=True)
class Sort:
    """A sort of crowd: the failure patterns of its careless workers, the share of captions that
    they spoil, how many captions each worker writes, and whether the product sees flags."""

    patterns: tuple[str, ...]
    law: Law = by_rank
    spoils: float = SPOILED
    has_flags: bool = True

    def crowd(self, seed: int) -> Crowd:
        source = list(SOURCES)[seed % len(SOURCES)]
        return gather(
            read_captions(source),
            seed=seed,
            patterns=self.patterns,
            law=self.law,
            spoils=self.spoils,
        )


KNOWN_PATTERNS = (*KNOWN, LATE)
# Failure patterns: those that the flags were made for, others, and the first without flags. In
# “mostly few”, half of the workers write at most five captions. Careless workers spoil 40% of their
# captions, or 90% where the name says so.
SORTS = {
    "known": Sort(KNOWN_PATTERNS),
    "unseen": Sort(tuple(UNSEEN)),
    "without flags": Sort(KNOWN_PATTERNS, has_flags=False),
    "known, mostly few": Sort(KNOWN_PATTERNS, law=mostly_few),
    "unseen, mostly few": Sort(tuple(UNSEEN), law=mostly_few),
    "known, mostly few, 90 %": Sort(KNOWN_PATTERNS, law=mostly_few, spoils=MOSTLY_SPOILED),
    "unseen, mostly few, 90 %": Sort(tuple(UNSEEN), law=mostly_few, spoils=MOSTLY_SPOILED),
}


@dataclass
class StrategyResult:
    """The reviews of several crowds with one strategy."""

    reviews: list[SimulatedReview] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)

    def left(self, checks: int) -> float:
        """The share of bad captions left after this many checks, as a mean over the crowds."""
        return fmean(review.share_left(checks) for review in self.reviews)

    def to_exclude(self) -> list[float]:
        """For each crowd, the checks until 95% of its careless workers were excluded."""
        return [
            _at_95([review.excluded.get(worker, np.inf) for worker in review.crowd.patterns])
            for review in self.reviews
        ]

    @property
    def good_excluded(self) -> float:
        """The share of good workers who were excluded wrongly."""
        good = sum(len(review.work) - len(review.crowd.patterns) for review in self.reviews)
        wrong = [
            w for review in self.reviews for w in review.excluded if w not in review.crowd.patterns
        ]
        return len(wrong) / good

    @property
    def estimated(self) -> list[Snapshot]:
        return [snapshot for snapshot in self.snapshots if snapshot.estimate.checks]

    @property
    def coverage(self) -> float:
        """The share of snapshots whose interval contains the true share."""
        covered = (m.estimate.low <= m.truth <= m.estimate.high for m in self.estimated)
        return fmean(covered)

    @property
    def error(self) -> float:
        return fmean(abs(m.estimate.share - m.truth) for m in self.estimated)

    def interval_coverage(self, checks: int, *, careless: bool) -> float | None:
        """The share of careless (or good) workers whose interval contains their true share after so
        many checks; None without a snapshot."""
        containing = [
            contains
            for snapshot in self.snapshots
            if snapshot.checks == checks
            for is_careless, contains in snapshot.intervals
            if is_careless == careless
        ]
        return fmean(containing) if containing else None


def _at_95(times: Sequence[float]) -> float:
    return float(np.sort(times)[int(np.ceil(0.95 * len(times))) - 1])


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, help="crowds of each sort (2; with --full 20)")
    parser.add_argument(
        "--sort", action="append", choices=SORTS, help="only this sort of crowd; may be repeated"
    )


def measure(options: argparse.Namespace) -> Report:
    seeds = options.seeds or SEEDS[options.full]
    chosen = options.sort or list(SORTS)
    report = Report()
    tails: list[Line] = []
    for name in chosen:
        results = compare_strategies(SORTS[name], seeds)
        report.lines += left_lines(name, results)
        tails += lines_of(name, results)
        report.figures[name] = figures_of(results)
    report.lines += tails
    report.figures |= {"seeds": seeds}
    if "known" in chosen:
        known = report.figures["known"]
        report.figures |= {headline: known[headline] for headline in HEADLINES}
    return report


HEADLINES = (
    "left",
    "checks_ratio",
    "checks_ratio_round_robin",
    "good_excluded",
    "interval_coverage",
)


def compare_strategies(sort: Sort, seeds: int) -> dict[str, StrategyResult]:
    """Review the same crowds with each strategy."""
    results = {name: StrategyResult() for name in (OURS, *OTHERS)}
    for seed in range(seeds):
        crowd = sort.crowd(seed)
        codes = flags_of(crowd) if sort.has_flags else [()] * len(crowd.captions)
        review = SimulatedReview(crowd, seed)
        results[OURS].snapshots += check_by_expected_value(review, codes, least=LEAST)
        results[OURS].reviews.append(review)
        for name, check in OTHERS.items():
            other = SimulatedReview(crowd, seed)
            check(other, least=LEAST)
            results[name].reviews.append(other)
    return results


def flags_of(crowd: Crowd) -> list[tuple[str, ...]]:
    """The product's flags of all captions, with the default thresholds."""
    config = parse_config({"name": "spot-checks", "selection": "captions", "budget": 0})
    captions = ((caption.worker, caption.image, caption.text) for caption in crowd.captions)
    return codes_of_captions(captions, config)


def left_lines(sort: str, results: dict[str, StrategyResult]) -> list[Line]:
    """Lines with the share of bad captions left after this many checks."""
    lines = []
    for checks in POINTS[1:]:
        left = {name: result.left(checks) for name, result in results.items()}
        others = ", ".join(f"{name} {left[name]:.2%}" for name in OTHERS)
        is_aim = checks == AT and sort == "known"
        lines.append(
            Line(
                f"{sort}: bad captions left after {checks} checks",
                f"{left[OURS]:.2%}",
                f"{others}; before any {results[OURS].left(0):.2%}",
                ratio(left[OURS], left[RANDOM]),
                AIM if is_aim else None,
            )
        )
    return lines


def lines_of(sort: str, results: dict[str, StrategyResult]) -> list[Line]:
    """Lines for one sort of crowd. Only the known patterns have a limit for the ratios."""
    ours = results[OURS]
    aims = AIMS if sort == "known" else {}
    return [
        *(
            _beside(
                f"{sort}: checks to exclude 95 %" * (name == RANDOM), results, name, aims.get(name)
            )
            for name in OTHERS
        ),
        Line(
            f"{sort}: good workers excluded",
            f"{ours.good_excluded:.2%}",
            ratio=ours.good_excluded,
            aim=0.01,
        ),
        Line(
            f"{sort}: estimates that miss",
            f"{1 - ours.coverage:.1%}, error {ours.error:.2%}",
            ratio=1 - ours.coverage,
            aim=0.05,
        ),
        *(_interval_line(sort, ours, checks) for checks in POINTS),
    ]


def _interval_line(sort: str, ours: StrategyResult, checks: int) -> Line:
    careless, good = (ours.interval_coverage(checks, careless=which) for which in (True, False))
    return Line(
        f"{sort}: workers' intervals that contain the share, {checks} checks",
        f"careless {_percent(careless)}",
        f"good {_percent(good)}",
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _beside(
    what: str, results: dict[str, StrategyResult], other: str, aim: float | None = None
) -> Line:
    ours, theirs = median(results[OURS].to_exclude()), median(results[other].to_exclude())
    return Line(what, _number(ours), f"{other} {_number(theirs)}", _ratio(ours, theirs), aim)


def figures_of(results: Mapping[str, StrategyResult]) -> dict[str, Any]:
    """The figures for `--json`; null if 95% was not reached."""
    to_exclude = {name: median(result.to_exclude()) for name, result in results.items()}
    return {
        "left": {
            name: {str(checks): round(result.left(checks), 5) for checks in POINTS}
            for name, result in results.items()
        },
        "intervals": {
            kind: {
                str(checks): results[OURS].interval_coverage(checks, careless=which)
                for checks in POINTS
            }
            for kind, which in (("careless", True), ("good", False))
        },
        "checks_ratio": _ratio(to_exclude[OURS], to_exclude[RANDOM]),
        "checks_ratio_round_robin": _ratio(to_exclude[OURS], to_exclude[ROUND_ROBIN]),
        "good_excluded": round(results[OURS].good_excluded, 5),
        "interval_coverage": round(results[OURS].coverage, 4),
        "estimate_error": round(results[OURS].error, 5),
        "to_exclude": {name: _finite(checks) for name, checks in to_exclude.items()},
    }


def _ratio(ours: float, theirs: float) -> float | None:
    return ratio(ours, theirs) if np.isfinite(ours) and np.isfinite(theirs) else None


def _finite(checks: float) -> float | None:
    return checks if np.isfinite(checks) else None


def _number(checks: float) -> str:
    return f"{checks:,.0f}" if np.isfinite(checks) else "never"


if __name__ == "__main__":
    main(measure, name="spot_checks", description=__doc__, options=options)
