"""How far reviewers agree beyond chance, by the two usual coefficients."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import krippendorff


@dataclass(frozen=True)
class Agreement:
    """Of responses that several reviewers judged: Cohen's kappa of the first two judgements, and
    Krippendorff's alpha of all. Empty where it cannot be computed, as when all said the same."""

    pairs: int
    kappa: float | None = None
    alpha: float | None = None


def agreement(judged: Sequence[Mapping[str, str]]) -> Agreement:
    """From what each reviewer said of each response: {reviewer: verdict}, in the order of time."""
    judged = [said for said in judged if len(said) >= 2]
    pairs = [tuple(islice(said.values(), 2)) for said in judged]
    if len({verdict for pair in pairs for verdict in pair}) < 2:
        # Nobody ever said anything else, so there is no chance agreement to compare with.
        return Agreement(len(pairs))
    return Agreement(len(pairs), _kappa(pairs), _alpha(judged))


def _kappa(pairs: Sequence[tuple[str, ...]]) -> float:
    """Cohen (1960): the share of equal pairs beyond what chance gives, of what chance leaves."""
    first, second = (Counter(verdicts) for verdicts in zip(*pairs, strict=True))
    observed = sum(one == other for one, other in pairs) / len(pairs)
    by_chance = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return (observed - by_chance) / (1 - by_chance)


def _alpha(judged: Sequence[Mapping[str, str]]) -> float:
    reviewers = sorted({reviewer for said in judged for reviewer in said})
    # One row for each reviewer, one column for each response; what they did not judge is empty.
    values = {"GOOD": 0.0, "BAD": 1.0}
    table = [
        [values[said[reviewer]] if reviewer in said else float("nan") for said in judged]
        for reviewer in reviewers
    ]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
