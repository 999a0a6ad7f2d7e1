"""Agreement of reviewers beyond chance: Cohen's kappa and Krippendorff's alpha."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import krippendorff


@dataclass(frozen=True)
class Agreement:
    """Agreement on responses with several judgements: kappa of the first two judgements of each,
    and alpha of all. None if it cannot be computed, as when all judgements are equal."""

    pairs: int
    kappa: float | None = None
    alpha: float | None = None


def agreement(judged: Sequence[Mapping[str, str]]) -> Agreement:
    """Compute the agreement from {reviewer: verdict} for each response, in the order of judging."""
    judged = [said for said in judged if len(said) >= 2]
    pairs = [tuple(islice(said.values(), 2)) for said in judged]
    if len({verdict for pair in pairs for verdict in pair}) < 2:
        # With a single verdict everywhere, chance agreement is perfect, and kappa is not defined.
        return Agreement(len(pairs))
    return Agreement(len(pairs), _kappa(pairs), _alpha(judged))


def _kappa(pairs: Sequence[tuple[str, ...]]) -> float:
    """Cohen (1960): the observed agreement beyond chance, divided by the largest possible one."""
    first, second = (Counter(verdicts) for verdicts in zip(*pairs, strict=True))
    observed = sum(one == other for one, other in pairs) / len(pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return (observed - by_chance) / (1 - by_chance)


def _alpha(judged: Sequence[Mapping[str, str]]) -> float:
    reviewers = sorted({reviewer for said in judged for reviewer in said})
    # One row for each reviewer, one column for each response; NaN without a judgement.
    values = {"GOOD": 0.0, "BAD": 1.0}
    table = [
        [values[said[reviewer]] if reviewer in said else float("nan") for said in judged]
        for reviewer in reviewers
    ]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
