"""Scores of captions and of their sources, and the raters' agreement. Plain Python with numpy.

A caption's score for a question is the mean of its ratings. A source's score is the mean over
images of the mean score of its captions for each image. Intervals are 95% percentile intervals of a
bootstrap over images (Efron and Tibshirani 1993, chapter 13). All captions of an image are drawn
together, so that the differences between sources are paired.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Literal, NamedTuple

import krippendorff
import numpy as np

from annotate.kinds.rating.marks import Marked
from corpora.evaluation.bootstrap import draws, interval_of

RESAMPLES = 2000


class Rated(NamedTuple):
    """A caption with the ratings that each worker gave it, by the worker's number."""

    image: int
    number: int
    text: str
    sources: Mapping[str, str]
    ratings: Mapping[int, Mapping[str, float]]
    # None if the campaign asks for no marks.
    marked: Marked | None = None

    def scores(self, names: Iterable[str]) -> dict[str, float | None]:
        """The mean rating for each question; None without ratings."""
        return {name: _mean(self.given(name)) for name in names}

    def given(self, question: str) -> list[float]:
        return [given[question] for given in self.ratings.values() if question in given]


class Score(NamedTuple):
    """A mean with its 95% interval, and the number of images; None without images. Images that are
    all the same, such as a single one, have no interval: all resamples are the same."""

    mean: float | None
    low: float | None
    high: float | None
    images: int

    def entry(self) -> dict[str, Any]:
        """The score as written to files and shown on pages."""
        mean, low, high = map(rounded, self[:3])
        return {"mean": mean, "low": low, "high": high, "images": self.images}


def alpha(captions: Sequence[Rated], question: str) -> float | None:
    """Krippendorff's alpha with the ordinal metric over all captions; None if all ratings are the
    same."""
    return alpha_of((caption.given(question) for caption in captions), "ordinal")


def marks_alpha(marked: Iterable[Marked]) -> float | None:
    """Krippendorff's alpha with the nominal metric: whether workers marked each word as wrong."""
    return alpha_of((given for caption in marked for given in caption.words()), "nominal")


def alpha_of(
    units: Iterable[Sequence[float]], level: Literal["nominal", "ordinal"]
) -> float | None:
    """Krippendorff's alpha of what people answered about each unit, with the metric `level`.

    From Krippendorff 2011, "Computing Krippendorff's alpha-reliability". None if no unit has two
    answers, or all answers are the same.
    """
    twice = [given for given in units if len(given) > 1]
    scale = sorted(set(chain.from_iterable(twice)))
    counts = np.array([[given.count(value) for value in scale] for given in twice])
    if len(scale) < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement=level))


def source_scores(
    captions: Sequence[Rated], sources: Sequence[str], names: Sequence[str], seed: int
) -> dict[str, dict[str, Score]]:
    """Each source's score for each question."""
    return {
        source: {name: _score(_by_image(captions, source, name), seed) for name in names}
        for source in sources
    }


def differences(
    captions: Sequence[Rated], sources: Sequence[str], names: Sequence[str], seed: int
) -> dict[tuple[str, str], dict[str, Score]]:
    """For each pair of sources and each question, the first source's score minus the second's."""
    scores: dict[tuple[str, str], dict[str, Score]] = {}
    for first, second in combinations(sources, 2):
        scores[first, second] = {}
        for name in names:
            mine, theirs = (_by_image(captions, source, name) for source in (first, second))
            apart = {image: mine[image] - theirs[image] for image in mine if image in theirs}
            scores[first, second][name] = _score(apart, seed)
    return scores


def _by_image(captions: Sequence[Rated], source: str, question: str) -> dict[int, float]:
    """The source's score for each image: the mean over the source's captions."""
    scores: dict[int, list[float]] = {}
    for caption in captions:
        score = _mean(caption.given(question))
        if source in caption.sources and score is not None:
            scores.setdefault(caption.image, []).append(score)
    return {image: float(np.mean(of_image)) for image, of_image in scores.items()}


def _score(by_image: Mapping[int, float], seed: int) -> Score:
    values = np.array([by_image[image] for image in sorted(by_image)])
    if not len(values):
        return Score(None, None, None, 0)
    # The same seed and number of images give the same resamples.
    drawn = draws(len(values), RESAMPLES, abs(seed), len(values))
    means = np.concatenate([counts @ values for counts in drawn]) / len(values)
    low, high = interval_of(means) or (None, None)
    return Score(float(values.mean()), low, high, len(values))


def _mean(ratings: Sequence[float]) -> float | None:
    return float(np.mean(ratings)) if ratings else None


def rounded(value: float | None) -> float | None:
    """A number as written to files and shown on pages."""
    return None if value is None else round(value, 3)
