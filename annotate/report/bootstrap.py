"""Percentile intervals by bootstrap over images."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.int64]
LEVEL = 95


def interval(values: Sequence[float]) -> list[float] | None:
    """The middle 95% of the statistics of resamples; None without any."""
    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return None
    half = (100 - LEVEL) / 2
    return [float(value) for value in np.percentile(finite, [half, 100 - half])]


def resampled(
    rng: np.random.Generator, images: int, draws: int, statistic: Callable[[Weights], float]
) -> list[float]:
    """The statistic of `draws` resamples, as a function of how often each image is drawn."""
    return [
        statistic(np.bincount(rng.integers(images, size=images), minlength=images))
        for _ in range(draws)
    ]
