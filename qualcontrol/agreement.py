"""How far reviewers agree beyond chance, by the two usual coefficients.

The libraries that compute them are loaded when there is something to compute.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice


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
    from sklearn.metrics import cohen_kappa_score

    first, second = zip(*pairs, strict=True)
    return float(cohen_kappa_score(first, second))


def _alpha(judged: Sequence[Mapping[str, str]]) -> float:
    import krippendorff

    reviewers = sorted({reviewer for said in judged for reviewer in said})
    # One row for each reviewer, one column for each response; what they did not judge is empty.
    values = {"GOOD": 0.0, "BAD": 1.0}
    table = [
        [values[said[reviewer]] if reviewer in said else float("nan") for said in judged]
        for reviewer in reviewers
    ]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))
