"""The metric of Wang and Gaizauskas 2015, section 3, and its human upper bound.

A description is the set of the boxes that it mentions, so neither order nor repetition counts.
Where a share has nothing below its line it is 0: whoever selects nothing scores nothing, and of a
description that mentions no box nothing can be found.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from annotate.errors import DomainError

# The ids of the boxes that a description mentions, or a system selects.
Boxes = frozenset[str]
# An image's descriptions, by the image's id.
Gold = Mapping[str, Sequence[Boxes]]

NO_BOXES: Boxes = frozenset()


class NothingToScore(DomainError):
    """No image has a description."""

    def __init__(self) -> None:
        super().__init__("No image has a description to score against.")


class Score(NamedTuple):
    """Precision, recall and F, each from 0 to 1."""

    precision: float
    recall: float
    f: float


def score_image(selected: Boxes, descriptions: Sequence[Boxes]) -> Score:
    """Equations 1 to 3 for one image, of one description or more.

    Precision (1) is the share of the selected boxes that a description mentions, recall (2) the
    share of a description's boxes that are selected, both averaged over the descriptions; F (3)
    is the harmonic mean of the two averages. A box that many people mention so weighs more.
    """
    found = [len(selected & description) for description in descriptions]
    precision = share(sum(found), len(selected) * len(descriptions))
    recall = fmean(map(share, found, map(len, descriptions)))
    return Score(precision, recall, share(2 * precision * recall, precision + recall))


def score_images(gold: Gold, selections: Mapping[str, Boxes]) -> Score:
    """The mean of the images' scores; raises NothingToScore.

    Every image with a description counts the same. One without a selection scores 0; a selection
    for an image without descriptions is left out.
    """
    scores = [
        score_image(selections.get(image, NO_BOXES), descriptions)
        for image, descriptions in gold.items()
        if descriptions
    ]
    if not scores:
        raise NothingToScore
    return mean_score(scores)


def human_upper_bound(gold: Gold) -> Score | None:
    """How well people select, by the same metric: each description against the image's others.

    Averaged over an image's descriptions, then over the images that have two or more; None where
    there is no such image. The paper found P 0.77, R 0.77, F 0.74.
    """
    scores = [
        mean_score(
            score_image(left_out, [*descriptions[:number], *descriptions[number + 1 :]])
            for number, left_out in enumerate(descriptions)
        )
        for descriptions in gold.values()
        if len(descriptions) > 1
    ]
    return mean_score(scores) if scores else None


def boxes_per_description(gold: Gold) -> float:
    """The mean number of boxes in a description, 2.89 in the paper; raises NothingToScore."""
    sizes = [len(description) for descriptions in gold.values() for description in descriptions]
    if not sizes:
        raise NothingToScore
    return fmean(sizes)


def mean_score(scores: Iterable[Score]) -> Score:
    """The mean of one score or more; F is the mean of F, not the F of the means."""
    precisions, recalls, fs = zip(*scores, strict=True)
    return Score(fmean(precisions), fmean(recalls), fmean(fs))


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
