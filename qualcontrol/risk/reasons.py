"""What moved a worker's figure, in sentences."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotate.pages.wording import counted
from qualcontrol.risk.failure_patterns import SHOWN
from qualcontrol.risk.hypotheses import BAD, BLOCK_STARTS, GOOD, IS_CARELESS, Array
from qualcontrol.risk.model import Crowd

# Flags that are named at most, and how much more often than usual they must come to be named.
NAMED = 3
MORE_OFTEN = 2.0


@dataclass(frozen=True)
class Reason:
    """What moved a worker's figure, and how far: the change of the log odds that the worker is
    over the limit."""

    sentence: str
    effect: float


def reasons(crowd: Crowd, worker: int) -> Iterator[Reason]:
    """What moved the worker's figure; the effects add up to its log odds."""
    row = crowd.row[worker]
    start = log_odds(crowd.careless_share)
    by_flags = log_odds(crowd.risk_by_flags[row])
    yield Reason(
        f"About {crowd.careless_share:.0%} of this campaign's workers appear to be careless.", start
    )
    yield Reason(_flags_sentence(crowd, row), by_flags - start)
    judged = crowd.tally[row, :, 0].sum(axis=(0, 1))
    if judged[GOOD] + judged[BAD]:
        sentence = f"Verdicts: {int(judged[BAD])} bad, {int(judged[GOOD])} good."
        effect = log_odds(crowd.risk[row]) - by_flags
        yield Reason(sentence + _turn_sentence(crowd.posterior[row]), effect)


def _flags_sentence(crowd: Crowd, row: int) -> str:
    """Which flags the worker's responses have more often than is usual."""
    shown = crowd.tally[row].sum(axis=(0, 3))[:, SHOWN]
    written = crowd.tally[row, :, 0].sum()
    names = crowd.manners.names
    often = []
    for code in crowd.manners.rates:
        manner = names.index(code)
        usual = crowd.usual[manner, SHOWN]
        if shown[manner] > MORE_OFTEN * usual * written + 1:
            surplus = shown[manner] * np.log(shown[manner] / (usual * written))
            often.append((surplus, f"{code} {shown[manner]:.0f} times (usual: {usual:.1%})"))
    if not often:
        return f"No flag is frequent in {counted(int(written), 'response')}."
    named = ", ".join(text for _, text in sorted(often, reverse=True)[:NAMED])
    return f"Frequent flags in {counted(int(written), 'response')}: {named}."


def _turn_sentence(posterior: Array) -> str:
    """Since when, where the worker probably turned careless."""
    since = posterior[..., IS_CARELESS].sum(axis=(1, 2))
    if since[1:].sum() <= 0.5:
        return ""
    start = BLOCK_STARTS[int(np.argmax(since[1:])) + 1]
    return f" The work probably became careless around response {start}."


def log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(bounded / (1 - bounded)))
