"""What is left of bad captions after so many spot checks: the product's queue beside three plain
ways to choose what is checked.

Crowds of 120 workers write real captions, of nocaps and of COCO in turn; one worker in six is
careless. The workers are made up, captions are dealt to them at random, and the reviewer is always
right. With `--full`, 20 crowds of each sort.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

import numpy as np

from annotate.kinds.reading import parse_config
from benchmarks.crowds import (
    LATE,
    MOSTLY_SPOILED,
    SOURCES,
    SPOILED,
    Crowd,
    Law,
    by_rank,
    gather,
    mostly_few,
    read_captions,
)
from benchmarks.desks import (
    Desk,
    Moment,
    check_at_random,
    check_by_worth,
    check_latest,
    check_round_robin,
)
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.spoilers import BY_MACHINE, KNOWN, UNSEEN
from qualcontrol.flags import codes_of_captions

OURS, RANDOM, ROUND_ROBIN, LATEST = "ours", "random", "round-robin", "last caption"
OTHERS: dict[str, Callable[..., None]] = {
    RANDOM: check_at_random,
    ROUND_ROBIN: check_round_robin,
    LATEST: check_latest,
}
# The headline is the share of bad captions that is left after so many checks.
POINTS = (0, 50, 100, 200, 400, 800)
AT = 200
# Everybody goes on until then, also with nobody left to find.
LEAST = max(POINTS)
# After AT checks ours may leave so much of the share that random checks leave.
AIM = 0.5
# Of their checks ours may take at most so much for the known manners: a fifteenth and a sixth.
AIMS = {RANDOM: 0.067, ROUND_ROBIN: 0.167}
SEEDS = {False: 2, True: 20}


@dataclass(frozen=True)
class Sort:
    """A sort of crowd: how its careless workers fail, how much they spoil, and how many captions
    each worker writes. Without flags the queue sees none."""

    manners: tuple[str, ...]
    law: Law = by_rank
    spoils: float = SPOILED
    has_flags: bool = True

    def crowd(self, seed: int) -> Crowd:
        source = list(SOURCES)[seed % len(SOURCES)]
        return gather(
            read_captions(source),
            seed=seed,
            manners=self.manners,
            law=self.law,
            spoils=self.spoils,
        )


KNOWN_MANNERS = (*KNOWN, LATE)
# The manners that the flags were made for, others, those of language models that have seen the
# image, and the first with no flag; then crowds in which half of the workers write five captions
# at most, whose careless workers spoil 40 % or 90 %.
SORTS = {
    "known": Sort(KNOWN_MANNERS),
    "unseen": Sort(tuple(UNSEEN)),
    "by machine": Sort(tuple(BY_MACHINE)),
    "without flags": Sort(KNOWN_MANNERS, has_flags=False),
    "known, 90 %": Sort(KNOWN_MANNERS, spoils=MOSTLY_SPOILED),
    "known, mostly few": Sort(KNOWN_MANNERS, law=mostly_few),
    "unseen, mostly few": Sort(tuple(UNSEEN), law=mostly_few),
    "known, mostly few, 90 %": Sort(KNOWN_MANNERS, law=mostly_few, spoils=MOSTLY_SPOILED),
    "unseen, mostly few, 90 %": Sort(tuple(UNSEEN), law=mostly_few, spoils=MOSTLY_SPOILED),
}


@dataclass
class Runs:
    """What one way of choosing did with several crowds."""

    desks: list[Desk] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    def left(self, checks: int) -> float:
        """The share of bad captions left after so many checks, on average over the crowds."""
        return fmean(desk.share_left(checks) for desk in self.desks)

    def to_exclude(self) -> list[float]:
        """Checks until 95 % of the careless were excluded, for each crowd."""
        return [_at_95(_exclusions(desk, set(desk.crowd.manners.values()))) for desk in self.desks]

    def to_remove(self) -> list[float]:
        """Checks until 95 % of the careless workers' bad captions were removed."""
        return [_at_95(_removals(desk, set(desk.crowd.manners.values()))) for desk in self.desks]

    def of_manner(self, manner: str) -> tuple[float, float]:
        """Checks until 95 % of this manner's workers were excluded, of all crowds' together, and
        until 95 % of their bad captions were removed."""
        exclusions = [at for desk in self.desks for at in _exclusions(desk, {manner})]
        removals = [at for desk in self.desks for at in _removals(desk, {manner})]
        return _at_95(exclusions), _at_95(removals)

    @property
    def good_excluded(self) -> float:
        """The share of good workers who were excluded."""
        good = sum(len(desk.work) - len(desk.crowd.manners) for desk in self.desks)
        wrong = [w for desk in self.desks for w in desk.excluded if w not in desk.crowd.manners]
        return len(wrong) / good

    @property
    def estimated(self) -> list[Moment]:
        return [moment for moment in self.moments if moment.estimate.checks]

    @property
    def coverage(self) -> float:
        """How often the estimate's interval covered the truth."""
        covered = (m.estimate.low <= m.truth <= m.estimate.high for m in self.estimated)
        return fmean(covered)

    @property
    def error(self) -> float:
        return fmean(abs(m.estimate.share - m.truth) for m in self.estimated)

    def held(self, checks: int, *, careless: bool) -> float | None:
        """Of how many careless, or good, workers the interval held their true share then."""
        held = [
            is_held
            for moment in self.moments
            if moment.checks == checks
            for is_careless, is_held in moment.intervals
            if is_careless == careless
        ]
        return fmean(held) if held else None


def _exclusions(desk: Desk, manners: set[str]) -> list[float]:
    """After how many checks each careless worker of these manners was excluded."""
    of_them = [worker for worker, manner in desk.crowd.manners.items() if manner in manners]
    return [desk.excluded.get(worker, np.inf) for worker in of_them]


def _removals(desk: Desk, manners: set[str]) -> list[float]:
    """After how many checks each bad caption of theirs was removed."""
    bad = sum(
        caption.is_bad and desk.crowd.manners.get(caption.worker) in manners
        for caption in desk.crowd.captions
    )
    removed = [float(checks) for checks, manner in desk.removals if manner in manners]
    return removed + [np.inf] * (bad - len(removed))


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
        ways = review(SORTS[name], seeds)
        report.lines += left_lines(name, ways)
        tails += lines_of(name, ways)
        tails += [line for manner in SORTS[name].manners for line in manner_lines(manner, ways)]
        report.figures[name] = figures_of(SORTS[name].manners, ways)
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


def review(sort: Sort, seeds: int) -> dict[str, Runs]:
    """Have each way of choosing find the careless in the same crowds."""
    ways = {name: Runs() for name in (OURS, *OTHERS)}
    for seed in range(seeds):
        crowd = sort.crowd(seed)
        codes = flags_of(crowd) if sort.has_flags else [()] * len(crowd.captions)
        desk = Desk(crowd, seed)
        ways[OURS].moments += check_by_worth(desk, codes, least=LEAST)
        ways[OURS].desks.append(desk)
        for name, check in OTHERS.items():
            other = Desk(crowd, seed)
            check(other, least=LEAST)
            ways[name].desks.append(other)
    return ways


def flags_of(crowd: Crowd) -> list[tuple[str, ...]]:
    """The product's flags of all captions, with a campaign's default thresholds."""
    config = parse_config({"name": "spot-checks", "selection": "captions", "budget": 0})
    captions = ((caption.worker, caption.image, caption.text) for caption in crowd.captions)
    return codes_of_captions(captions, config)


def left_lines(sort: str, ways: dict[str, Runs]) -> list[Line]:
    """The headline: the share of bad captions left after so many checks."""
    lines = []
    for checks in POINTS[1:]:
        left = {name: runs.left(checks) for name, runs in ways.items()}
        others = ", ".join(f"{name} {left[name]:.2%}" for name in OTHERS)
        is_aim = checks == AT and sort == "known"
        lines.append(
            Line(
                f"{sort}: bad captions left after {checks} checks",
                f"{left[OURS]:.2%}",
                f"{others}; before any {ways[OURS].left(0):.2%}",
                ratio(left[OURS], left[RANDOM]),
                AIM if is_aim else None,
            )
        )
    return lines


def lines_of(sort: str, ways: dict[str, Runs]) -> list[Line]:
    """The crowds of one sort in a table. Only the known manners have an aim."""
    ours = ways[OURS]
    aims = AIMS if sort == "known" else {}
    lines = [
        _beside(f"{sort}: checks to exclude 95 %", Runs.to_exclude, ways, RANDOM, aims.get(RANDOM)),
        _beside("", Runs.to_exclude, ways, ROUND_ROBIN, aims.get(ROUND_ROBIN)),
        _beside("", Runs.to_exclude, ways, LATEST),
    ]
    lines += [
        _beside(f"{sort}: checks to remove 95 %" * (name == RANDOM), Runs.to_remove, ways, name)
        for name in OTHERS
    ]
    return [
        *lines,
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


def _interval_line(sort: str, ours: Runs, checks: int) -> Line:
    careless, good = (ours.held(checks, careless=which) for which in (True, False))
    return Line(
        f"{sort}: workers' intervals that hold, {checks} checks",
        f"careless {_percent(careless)}",
        f"good {_percent(good)}",
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _beside(
    what: str,
    figure: Callable[[Runs], list[float]],
    ways: dict[str, Runs],
    other: str,
    aim: float | None = None,
) -> Line:
    ours, theirs = median(figure(ways[OURS])), median(figure(ways[other]))
    return Line(what, _number(ours), f"{other} {_number(theirs)}", _ratio(ours, theirs), aim)


def manner_lines(manner: str, ways: dict[str, Runs]) -> list[Line]:
    """One manner: excluding its workers, and removing their bad captions."""
    beside = ", ".join(
        f"{name} {' and '.join(map(_number, ways[name].of_manner(manner)))}" for name in OTHERS
    )
    ours = ways[OURS].of_manner(manner)
    return [
        Line(
            f"  {manner}",
            " and ".join(map(_number, ours)),
            beside,
            _ratio(ours[0], ways[RANDOM].of_manner(manner)[0]),
        )
    ]


def figures_of(manners: Sequence[str], ways: Mapping[str, Runs]) -> dict[str, Any]:
    """The same for programs; null where 95 % was not reached."""
    to_exclude = {name: median(runs.to_exclude()) for name, runs in ways.items()}
    to_remove = {name: median(runs.to_remove()) for name, runs in ways.items()}
    return {
        "left": {
            name: {str(checks): round(runs.left(checks), 5) for checks in POINTS}
            for name, runs in ways.items()
        },
        "intervals": {
            kind: {str(checks): ways[OURS].held(checks, careless=which) for checks in POINTS}
            for kind, which in (("careless", True), ("good", False))
        },
        "checks_ratio": _ratio(to_exclude[OURS], to_exclude[RANDOM]),
        "checks_ratio_round_robin": _ratio(to_exclude[OURS], to_exclude[ROUND_ROBIN]),
        "good_excluded": round(ways[OURS].good_excluded, 5),
        "interval_coverage": round(ways[OURS].coverage, 4),
        "estimate_error": round(ways[OURS].error, 5),
        "to_exclude": {name: _finite(checks) for name, checks in to_exclude.items()},
        "to_remove": {name: _finite(checks) for name, checks in to_remove.items()},
        "manners": {
            manner: {
                name: dict(
                    zip(
                        ("to_exclude", "to_remove"),
                        map(_finite, runs.of_manner(manner)),
                        strict=True,
                    )
                )
                for name, runs in ways.items()
            }
            for manner in manners
        },
    }


def _ratio(ours: float, theirs: float) -> float | None:
    return ratio(ours, theirs) if np.isfinite(ours) and np.isfinite(theirs) else None


def _finite(checks: float) -> float | None:
    return checks if np.isfinite(checks) else None


def _number(checks: float) -> str:
    return f"{checks:,.0f}" if np.isfinite(checks) else "never"


if __name__ == "__main__":
    main(measure, name="spot_checks", description=__doc__, options=options)
