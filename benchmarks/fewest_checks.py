"""How few checks could find careless workers whose faults show no flag: a computation without text.

There are 120 workers with the bad shares of the spot-check benchmark, and nothing else is known of
them. The optimal index for such a choice (Gittins 1979) is compared with the product's expected
value of a run of bad verdicts, and with checking workers in turn.
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
# Workers, careless ones, and careless ones to find, in a crowd without flags and in one where flags
# have already shown fourteen.
CAREFUL, CARELESS_ONES = round(WORKERS * (1 - CARELESS)), round(WORKERS * CARELESS)
CASES = {
    "no flag at all": (CAREFUL + CARELESS_ONES, CARELESS_ONES, 19),
    "flags showed fourteen": (CAREFUL + 6, 6, 5),
}
# The most good verdicts, and the most bad ones, on one worker.
MOST = 40
# Costs of a check among which the index is chosen.
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
    """The probability of each bad share after so many verdicts, [good, bad, share]."""
    edges = np.array([0, *(SLIP_SHARES[1:] + SLIP_SHARES[:-1]) / 2, np.inf])
    slips = np.diff(-np.exp(-edges / SLIPS))
    prior = np.array([*(slips * (1 - careless)), careless])
    good, bad = np.ogrid[: MOST + 1, : MOST + 1]
    likely: Array = SHARES ** bad[..., None] * (1 - SHARES) ** good[..., None] * prior
    likely /= likely.sum(axis=2, keepdims=True)
    return likely


def exclusions(posterior: Array) -> Truths:
    """Whether a worker with these verdicts is excluded, [good, bad]."""
    return (posterior[..., -1] >= CERTAINTY) & (np.arange(MOST + 1) >= LEAST_BAD_VERDICTS)


def best_index(posterior: Array, over: Truths) -> Array:
    """The highest cost of a check at which continuing pays with an optimal stopping rule, if an
    exclusion has value 1, [good, bad]. Computed by backward induction over the verdicts."""
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
    """The probability that a run of bad verdicts excludes, divided by the expected number of checks
    of the run, as in the product's ranking, [good, bad]."""
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
    """An index that prefers workers with fewer verdicts, [good, bad]."""
    good, bad = np.ogrid[: MOST + 1, : MOST + 1]
    return 1 / (1.0 + good + bad)


def find(index: Array, over: Truths, workers: int, careless: int, wanted: int, seed: int) -> float:
    """The number of checks until `wanted` careless workers are excluded."""
    rng = np.random.default_rng(seed)
    share = np.minimum(rng.exponential(SLIPS, workers), SLIP_SHARES[-1])
    share[:careless] = SPOILED
    rng.shuffle(share)
    good, bad = np.zeros(workers, dtype=int), np.zeros(workers, dtype=int)
    values, found, checks = np.full(workers, index[0, 0]), 0, 0
    while found < wanted and values.max() >= 0:
        worker = int(rng.permuted(np.flatnonzero(values == values.max()))[0])
        (bad if rng.random() < share[worker] else good)[worker] += 1
        checks += 1
        at = good[worker], bad[worker]
        is_out = over[at]
        found += is_out and share[worker] == SPOILED
        values[worker] = -1 if is_out or max(at) == MOST else index[at]
    return checks if found == wanted else np.inf


if __name__ == "__main__":
    main(measure, name="fewest_checks", description=__doc__, options=options)
