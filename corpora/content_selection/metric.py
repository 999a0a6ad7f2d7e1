"""The metric of Wang and Gaizauskas 2015, section 3, and its human upper bound.

A description is the set of boxes that it mentions, so order and repetition do not count. A share
whose denominator is 0 is 0: an empty selection has precision 0, and a description without boxes has
recall 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, pstdev
from typing import NamedTuple

from corpora.errors import DomainError

# Ids of the boxes that a description mentions or a system selects.
Boxes = frozenset[str]
# Descriptions by the image's id.
Gold = Mapping[str, Sequence[Boxes]]
# A description as its references to boxes, in the order of its words. A reference to several boxes,
# such as "two men", is one mention.
Mentions = Mapping[str, Sequence[Sequence[Boxes]]]

NO_BOXES: Boxes = frozenset()
NO_DESCRIPTION = "No image has a description to score against."


class Score(NamedTuple):
    """Precision, recall and F, each from 0 to 1."""

    precision: float
    recall: float
    f: float


class Summary(NamedTuple):
    """The mean of the images' scores, and how far they spread around it."""

    mean: Score
    deviation: Score  # standard deviations of the images' scores, with divisor n


def score_image(selected: Boxes, descriptions: Sequence[Boxes]) -> Score:
    """Equations 1 to 3 for one image with one or more descriptions.

    Precision (1) is the share of the selected boxes that a description mentions. Recall (2) is the
    share of a description's boxes that are selected. Both are averaged over the descriptions, so a
    box that many people mention has more weight. F (3) is the harmonic mean of the two averages.
    """
    common = [len(selected & description) for description in descriptions]
    precision = share(sum(common), len(selected) * len(descriptions))
    recall = fmean(map(share, common, map(len, descriptions)))
    return Score(precision, recall, share(2 * precision * recall, precision + recall))


def score_images(gold: Gold, selections: Mapping[str, Boxes]) -> Summary:
    """The mean of the images' scores; raises DomainError.

    Every image with a description has the same weight. One without a selection scores 0. Selections
    for images without descriptions are ignored.
    """
    scores = [
        score_image(selections.get(image, NO_BOXES), descriptions)
        for image, descriptions in gold.items()
        if descriptions
    ]
    if not scores:
        raise DomainError(NO_DESCRIPTION)
    return summarise(scores)


def human_upper_bound(gold: Gold) -> Summary | None:
    """The metric applied to people: each description against the image's other descriptions.

    Averaged over an image's descriptions, then over the images with two or more; None if there are
    none. The paper reports P 0.77 ± 0.11, R 0.77 ± 0.11, F 0.74 ± 0.12 (section 5).
    """
    scores = [
        mean_score(
            score_image(left_out, [*descriptions[:number], *descriptions[number + 1 :]])
            for number, left_out in enumerate(descriptions)
        )
        for descriptions in gold.values()
        if len(descriptions) > 1
    ]
    return summarise(scores) if scores else None


def boxes_per_description(gold: Gold) -> float:
    """The mean number of boxes in a description (2.89 in the paper); raises DomainError."""
    sizes = [len(description) for descriptions in gold.values() for description in descriptions]
    if not sizes:
        raise DomainError(NO_DESCRIPTION)
    return fmean(sizes)


def summarise(scores: Sequence[Score]) -> Summary:
    """The mean and the standard deviations of one or more scores."""
    return Summary(mean_score(scores), Score(*map(pstdev, zip(*scores, strict=True))))


def mean_score(scores: Iterable[Score]) -> Score:
    """The mean of one or more scores; F is the mean of F, not computed from the other means."""
    precisions, recalls, fs = zip(*scores, strict=True)
    return Score(fmean(precisions), fmean(recalls), fmean(fs))


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
