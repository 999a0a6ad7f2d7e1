"""How few checks could find careless workers whose faults no flag shows: without any text.

120 workers are known to be careless or not with the shares of the spot-check experiment's crowds,
and nothing else is known of them. The best index for such a choice, after Gittins (1979), stands
beside the product's worth of a run of bad verdicts, and beside checks in turn.
"""

import argparse
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowds import CARELESS, SLIPS, SPOILED, WORKERS
from benchmarks.harness import Line, Report, main, ratio
from qualcontrol.risk.hypotheses import Array
from qualcontrol.risk.model import CERTAINTY, LEAST_BAD_VERDICTS
from qualcontrol.risk.ranking import LONGEST_RUN

BEST, RUN, IN_TURN = "best index", "run of bad verdicts", "in turn"
# Workers, the careless among them, and how many of these are to be found: in a crowd without any
# flag, and once flags have shown fourteen.
CAREFUL, CARELESS_ONES = round(WORKERS * (1 - CARELESS)), round(WORKERS * CARELESS)
CASES = {
    "no flag at all": (CAREFUL + CARELESS_ONES, CARELESS_ONES, 19),
    "flags showed fourteen": (CAREFUL + 6, 6, 5),
}
# Verdicts of each sort on one worker that are told apart.
MOST = 40
# Costs of a check that an index is told by.
COSTS = np.geomspace(1e-5, 0.4, 120)
SLIP_SHARES = np.array([0.0015, 0.005, 0.01, 0.02, 0.03, 0.05])
CROWDS = {False: 100, True: 1000}
SHARES = np.array([*SLIP_SHARES, SPOILED])

Truths = NDArray[np.bool_]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--crowds", type=int, help="crowds of each case (100; with --full 1000)")


def measure(options: argparse.Namespace) -> Report:
    crowds = options.crowds or CROWDS[options.full]
    report = Report()
    for name, (workers, careless, wanted) in CASES.items():
        posterior = posteriors(careless / workers)
        over = exclusions(posterior)
        ways = {BEST: best_index(posterior, over), RUN: run_index(posterior), IN_TURN: in_turn()}
        checks = {
            way: median(
                find(index, over, workers, careless, wanted, seed) for seed in range(crowds)
            )
            for way, index in ways.items()
        }
        report.lines += [
            Line(
                f"{name}: {wanted} of {careless}, {way}",
                f"{checks[way]:,.0f} checks",
                f"{BEST} {checks[BEST]:,.0f}",
                ratio(checks[way], checks[BEST]),
            )
            for way in (RUN, IN_TURN)
        ]
        report.figures[name.replace(" ", "_")] = checks
    return report


def posteriors(careless: float) -> Array:
    """How probable each share is after so many good and bad verdicts, [good, bad, share]."""
    edges = np.array([0, *(SLIP_SHARES[1:] + SLIP_SHARES[:-1]) / 2, np.inf])
    slips = np.diff(-np.exp(-edges / SLIPS))
    prior = np.array([*(slips * (1 - careless)), careless])
    good, bad = np.ogrid[: MOST + 1, : MOST + 1]
    likely: Array = SHARES ** bad[..., None] * (1 - SHARES) ** good[..., None] * prior
    likely /= likely.sum(axis=2, keepdims=True)
    return likely


def exclusions(posterior: Array) -> Truths:
    """Whether somebody with these verdicts is excluded, [good, bad]."""
    return (posterior[..., -1] >= CERTAINTY) & (np.arange(MOST + 1) >= LEAST_BAD_VERDICTS)


def best_index(posterior: Array, over: Truths) -> Array:
    """The greatest cost of a check at which going on is worth it for some rule when to stop, if an
    exclusion is worth 1, [good, bad]. By backward induction over the number of verdicts."""
    chance = posterior @ SHARES
    index = np.zeros(over.shape)
    for cost in COSTS:
        value = np.zeros((MOST + 2, MOST + 2))
        value[:-1, :-1][over] = 1
        for verdicts in range(2 * MOST, -1, -1):
            good = np.arange(max(0, verdicts - MOST), min(MOST, verdicts) + 1)
            bad = verdicts - good
            good, bad = good[~over[good, bad]], bad[~over[good, bad]]
            after = chance[good, bad] * value[good, bad + 1]
            after += (1 - chance[good, bad]) * value[good + 1, bad] - cost
            value[good, bad] = np.maximum(after, 0)
            index[good[after > 0], bad[after > 0]] = cost
    return index


def run_index(posterior: Array) -> Array:
    """The chance that bad verdicts in a row exclude, over the checks until they do or a good one
    ends the run, as the product's queue has it, [good, bad]."""
    index = np.zeros(posterior.shape[:2])
    for at in np.ndindex(index.shape):
        weights, reached, checks = posterior[at], 1.0, 0.0
        for bad in range(at[1] + 1, at[1] + 1 + LONGEST_RUN):
            chance = weights @ SHARES
            checks, reached = checks + reached, reached * chance
            weights = weights * SHARES / chance
            if weights[-1] >= CERTAINTY and bad >= LEAST_BAD_VERDICTS:
                break
        index[at] = reached / checks
    return index


def in_turn() -> Array:
    """Who has the fewest verdicts comes first, [good, bad]."""
    good, bad = np.ogrid[: MOST + 1, : MOST + 1]
    return 1 / (1.0 + good + bad)


def find(index: Array, over: Truths, workers: int, careless: int, wanted: int, seed: int) -> float:
    """Checks until so many of the careless are excluded."""
    rng = np.random.default_rng(seed)
    share = np.minimum(rng.exponential(SLIPS, workers), SLIP_SHARES[-1])
    share[:careless] = SPOILED
    rng.shuffle(share)
    good, bad = np.zeros(workers, dtype=int), np.zeros(workers, dtype=int)
    worth, found, checks = np.full(workers, index[0, 0]), 0, 0
    while found < wanted and worth.max() >= 0:
        worker = int(rng.permuted(np.flatnonzero(worth == worth.max()))[0])
        (bad if rng.random() < share[worker] else good)[worker] += 1
        checks += 1
        at = good[worker], bad[worker]
        is_out = over[at]
        found += is_out and share[worker] == SPOILED
        worth[worker] = -1 if is_out or max(at) == MOST else index[at]
    return checks if found == wanted else np.inf


if __name__ == "__main__":
    main(measure, name="fewest_checks", description=__doc__, options=options)
