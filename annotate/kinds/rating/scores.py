"""Scores of captions and of their sources, and the raters' agreement. Plain Python with numpy.

A caption's score for a question is the mean of its ratings. A source's score is the mean over
images of the mean score of its captions for each image. Intervals are 95% percentile intervals of a
bootstrap over images (Efron and Tibshirani 1993, chapter 13). All captions of an image are drawn
together, so that the differences between sources are paired.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import NDArray

from annotate.kinds.rating.answers import NAMES, SCALE

RESAMPLES = 2000
# Number of resamples computed at a time, to limit memory.
AT_ONCE = 100
LOW, HIGH = 2.5, 97.5


class Rated(NamedTuple):
    """A caption with the ratings that each worker gave it, by the worker's number."""

    image: int
    number: int
    text: str
    sources: Mapping[str, str]
    ratings: Mapping[int, Mapping[str, int]]

    def scores(self) -> dict[str, float | None]:
        """The mean rating for each question; None without ratings."""
        return {name: _mean(self.given(name)) for name in NAMES}

    def given(self, question: str) -> list[int]:
        return [given[question] for given in self.ratings.values() if question in given]


class Score(NamedTuple):
    """A mean with its 95% interval, and the number of images."""

    mean: float
    low: float
    high: float
    images: int


def alpha(captions: Sequence[Rated], question: str) -> float | None:
    """Krippendorff's alpha with the ordinal metric over all captions.

    From Krippendorff 2011, "Computing Krippendorff's alpha-reliability". None if all ratings are
    the same.
    """
    counts = np.array(
        [[given.count(value) for value in SCALE] for given in _rated_twice(captions, question)]
    )
    if not len(counts) or np.count_nonzero(counts.sum(axis=0)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="ordinal"))


def source_scores(
    captions: Sequence[Rated], sources: Sequence[str], seed: int
) -> dict[str, dict[str, Score]]:
    """Each source's score for each question."""
    return {
        source: {name: _score(_by_image(captions, source, name), seed) for name in NAMES}
        for source in sources
    }


def differences(
    captions: Sequence[Rated], sources: Sequence[str], seed: int
) -> dict[tuple[str, str], dict[str, Score]]:
    """For each pair of sources and each question, the first source's score minus the second's."""
    found: dict[tuple[str, str], dict[str, Score]] = {}
    for one, other in combinations(sources, 2):
        found[one, other] = {}
        for name in NAMES:
            mine, theirs = (_by_image(captions, source, name) for source in (one, other))
            apart = {image: mine[image] - theirs[image] for image in mine if image in theirs}
            found[one, other][name] = _score(apart, seed)
    return found


def _rated_twice(captions: Sequence[Rated], question: str) -> list[list[int]]:
    given = [caption.given(question) for caption in captions]
    return [ratings for ratings in given if len(ratings) > 1]


def _by_image(captions: Sequence[Rated], source: str, question: str) -> dict[int, float]:
    """The source's score for each image: the mean over the source's captions."""
    scores: dict[int, list[float]] = {}
    for caption in captions:
        score = _mean(caption.given(question))
        if source in caption.sources and score is not None:
            scores.setdefault(caption.image, []).append(score)
    return {image: float(np.mean(found)) for image, found in scores.items()}


def _score(by_image: Mapping[int, float], seed: int) -> Score:
    values = np.array([by_image[image] for image in sorted(by_image)])
    if not len(values):
        return Score(float("nan"), float("nan"), float("nan"), 0)
    low, high = np.percentile(_resampled_means(values, seed), [LOW, HIGH])
    return Score(float(values.mean()), float(low), float(high), len(values))


def _resampled_means(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The means of the resamples. The same seed and number of images give the same resamples."""
    rng = np.random.default_rng(abs(seed))
    means = [
        values[rng.integers(0, len(values), (AT_ONCE, len(values)))].mean(axis=1)
        for _ in range(RESAMPLES // AT_ONCE)
    ]
    return np.concatenate(means)


def _mean(ratings: Sequence[int]) -> float | None:
    return float(np.mean(ratings)) if ratings else None


def rounded(score: Score) -> dict[str, Any]:
    """A score as written to files and shown on pages."""
    if not score.images:
        return {"mean": None, "low": None, "high": None, "images": 0}
    mean, low, high = (round(value, 3) for value in score[:3])
    return {"mean": mean, "low": low, "high": high, "images": score.images}
