"""How many spot checks find careless workers: the product's queue beside three plain ways.

Crowds of 120 workers write 22,500 real captions, of nocaps and of COCO in turn; one worker in six
is careless. A reviewer who is always right judges what the queue gives. With `--full`, 20 crowds
of each sort.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np

from annotate.config import parse_config
from benchmarks.crowds import LATE, SOURCES, Crowd, gather, read_captions
from benchmarks.desks import (
    Desk,
    check_at_random,
    check_by_worth,
    check_latest,
    check_round_robin,
)
from benchmarks.harness import Line, Report, main, ratio
from benchmarks.spoilers import BY_MACHINE, KNOWN, UNSEEN
from qualcontrol.estimate import Estimate
from qualcontrol.flags import codes_of_captions

OURS, RANDOM, ROUND_ROBIN, LATEST = "ours", "random", "round-robin", "last caption"
OTHERS: dict[str, Callable[[Desk], None]] = {
    RANDOM: check_at_random,
    ROUND_ROBIN: check_round_robin,
    LATEST: check_latest,
}
# Of their checks ours may take at most so much for the known manners: a fifteenth and a sixth.
AIMS = {RANDOM: 0.067, ROUND_ROBIN: 0.167}
# The estimate is judged up to so many checks.
LEAST = 300
SEEDS = {False: 2, True: 20}
# Sorts of crowds: the manners that the flags were made for, others, those of language models that
# have seen the image, and the first with no flag.
SORTS = {
    "known": (*KNOWN, LATE),
    "unseen": tuple(UNSEEN),
    "by machine": tuple(BY_MACHINE),
    "without flags": (*KNOWN, LATE),
}


@dataclass
class Runs:
    """What one way of choosing did with several crowds."""

    desks: list[Desk] = field(default_factory=list)
    moments: list[tuple[float, Estimate]] = field(default_factory=list)

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
    def coverage(self) -> float:
        """How often the estimate's interval covered the truth."""
        return fmean(found.low <= truth <= found.high for truth, found in self.moments)

    @property
    def error(self) -> float:
        return fmean(abs(found.share - truth) for truth, found in self.moments)


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


def measure(options: argparse.Namespace) -> Report:
    seeds = options.seeds or SEEDS[options.full]
    report = Report()
    for sort, manners in SORTS.items():
        ways = review(sort, manners, seeds)
        report.lines += lines_of(sort, ways)
        report.lines += [line for manner in manners for line in manner_lines(sort, manner, ways)]
        report.figures[sort.replace(" ", "_")] = figures_of(manners, ways)
    known = report.figures["known"]
    report.figures |= {name: known[name] for name in HEADLINES} | {"seeds": seeds}
    return report


HEADLINES = ("checks_ratio", "checks_ratio_round_robin", "good_excluded", "interval_coverage")


def review(sort: str, manners: Sequence[str], seeds: int) -> dict[str, Runs]:
    """Have each way of choosing find the careless in the same crowds."""
    ways = {name: Runs() for name in (OURS, *OTHERS)}
    for seed in range(seeds):
        crowd = gather(
            read_captions(list(SOURCES)[seed % len(SOURCES)]), seed=seed, manners=manners
        )
        codes = flags_of(crowd) if sort != "without flags" else [()] * len(crowd.captions)
        desk = Desk(crowd, seed)
        ways[OURS].moments += check_by_worth(desk, codes, least=LEAST)
        ways[OURS].desks.append(desk)
        for name, check in OTHERS.items():
            other = Desk(crowd, seed)
            check(other)
            ways[name].desks.append(other)
    return ways


def flags_of(crowd: Crowd) -> list[tuple[str, ...]]:
    """The product's flags of all captions, with a campaign's default thresholds."""
    config = parse_config({"name": "spot-checks", "selection": "captions", "budget": 0})
    captions = ((caption.worker, caption.image, caption.text) for caption in crowd.captions)
    return codes_of_captions(captions, config)


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
            f"{sort}: intervals that miss",
            f"{1 - ours.coverage:.1%}, error {ours.error:.2%}",
            ratio=1 - ours.coverage,
            aim=0.05,
        ),
    ]


def _beside(
    what: str,
    figure: Callable[[Runs], list[float]],
    ways: dict[str, Runs],
    other: str,
    aim: float | None = None,
) -> Line:
    ours, theirs = median(figure(ways[OURS])), median(figure(ways[other]))
    return Line(what, _number(ours), f"{other} {_number(theirs)}", _ratio(ours, theirs), aim)


def manner_lines(sort: str, manner: str, ways: dict[str, Runs]) -> list[Line]:
    """One manner: excluding its workers, and removing their bad captions."""
    beside = ", ".join(
        f"{name} {' and '.join(map(_number, ways[name].of_manner(manner)))}" for name in OTHERS
    )
    ours = ways[OURS].of_manner(manner)
    return [
        Line(
            f"  {sort}, {manner}",
            " and ".join(map(_number, ours)),
            beside,
            _ratio(ours[0], ways[RANDOM].of_manner(manner)[0]),
        )
    ]


def figures_of(manners: Sequence[str], ways: dict[str, Runs]) -> dict[str, object]:
    """The same for programs; null where 95 % was not reached."""
    to_exclude = {name: median(runs.to_exclude()) for name, runs in ways.items()}
    to_remove = {name: median(runs.to_remove()) for name, runs in ways.items()}
    return {
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
