"""The reasons for a worker's risk, as sentences for the worker's page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from corpora.wording import counted
from qualcontrol.risk.hypotheses import BAD, BLOCK_STARTS, GOOD, IS_CARELESS, SHOWN, Array
from qualcontrol.risk.model import Crowd

# The most flags that a sentence names, and how many times the usual rate a flag must have.
MOST_NAMED = 3
MORE_OFTEN = 2.0
# Of fewer workers, the share of careless ones is what was assumed before any evidence.
FEWEST_WORKERS = 10


@dataclass(frozen=True)
class Reason:
    """A piece of evidence, and by how much it changes the log odds that the worker's bad share is
    above the tolerated share."""

    sentence: str
    effect: float


def reasons(crowd: Crowd, worker: int, label_of: Callable[[str], str]) -> Iterator[Reason]:
    """The reasons for the worker's risk; their effects add up to its log odds. `label_of` returns
    what pages call the flag with a code."""
    row = crowd.row[worker]
    start, by_flags = 0.0, log_odds(crowd.risk_by_flags[row])
    if len(crowd.workers) >= FEWEST_WORKERS:
        start = log_odds(crowd.careless_share)
        share = f"{crowd.careless_share:.0%} of this campaign's workers"
        yield Reason(f"About {share} appear to be careless.", start)
    yield Reason(_flags_sentence(crowd, row, label_of), by_flags - start)
    judged = crowd.tally[row, :, 0].sum(axis=(0, 1))
    if judged[GOOD] + judged[BAD]:
        sentence = f"Verdicts: {int(judged[BAD])} bad, {int(judged[GOOD])} good."
        effect = log_odds(crowd.risk[row]) - by_flags
        yield Reason(sentence + _turn_sentence(crowd.posterior[row]), effect)


def _flags_sentence(crowd: Crowd, row: int, label_of: Callable[[str], str]) -> str:
    """A sentence about the flags that the worker has much more often than usual."""
    shown = crowd.tally[row].sum(axis=(0, 3))[:, SHOWN]
    written = crowd.tally[row, :, 0].sum()
    responses = counted(int(written), "response")
    often = []
    for code in crowd.patterns.rates:
        pattern = crowd.patterns.names.index(code)
        usual = crowd.if_good[pattern, SHOWN]
        if shown[pattern] > MORE_OFTEN * usual * written + 1:
            surplus = shown[pattern] * np.log(shown[pattern] / (usual * written))
            often.append(
                (surplus, f"“{label_of(code)}” {shown[pattern]:.0f} times (usual: {usual:.1%})")
            )
    if not often:
        return f"No flag is frequent in {responses}."
    named = ", ".join(text for _, text in sorted(often, reverse=True)[:MOST_NAMED])
    return f"Frequent flags in {responses}: {named}."


def _turn_sentence(posterior: Array) -> str:
    """A sentence about the response from which the work became careless.

    Empty if the work probably did not become careless later.
    """
    start = posterior[..., IS_CARELESS].sum(axis=(1, 2))
    if start[1:].sum() <= 0.5:
        return ""
    position = BLOCK_STARTS[int(np.argmax(start[1:])) + 1]
    return f" The work probably became careless around response {position}."


def log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(bounded / (1 - bounded)))
