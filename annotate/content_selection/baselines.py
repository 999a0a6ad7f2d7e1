"""The baselines of Wang and Gaizauskas 2015, section 4, which select the k best boxes of an image.

A **cue** assigns a value to each box of an image: its size, its closeness to the centre, how often
its label is mentioned, and how often it is mentioned together with another label of the image. The
last two are priors, counted on development data. *Combined* orders the boxes by the sum of their
ranks under the four cues. Ties are broken at random and not by the order of the file, because
annotators draw important objects first.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from annotate.content_selection.metric import Boxes, Gold, Score, score_images
from annotate.errors import DomainError

MOST_BOXES = 15


class Box(NamedTuple):
    """A labelled box; edges are fractions of the image's width and height."""

    label: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float


# Boxes by their ids, by the image's id.
BoxesOfImages = Mapping[str, Mapping[str, Box]]
# The values of an image's boxes, in order; boxes with higher values are selected first.
Cue = Callable[[Sequence[Box]], Sequence[float]]


class UnfitParts(DomainError):
    """The descriptions do not match the boxes, or the two parts have images in common."""


class Curve(NamedTuple):
    """A baseline's scores for k = 1 to MOST_BOXES, and the k that was best on development data."""

    scores: list[Score]
    best_k: int

    @property
    def best(self) -> Score:
        """The score at `best_k`."""
        return self.scores[self.best_k - 1]


class Priors(NamedTuple):
    """In how many descriptions a label is mentioned, and two labels are mentioned together."""

    labels: Counter[str]
    pairs: Counter[tuple[str, str]]

    def unigram(self, boxes: Sequence[Box]) -> list[int]:
        """How often each box's label is mentioned."""
        return [self.labels[box.label] for box in boxes]

    def bigram(self, boxes: Sequence[Box]) -> list[int]:
        """For each box, the highest count of its label together with another box's."""
        best = [0] * len(boxes)
        for (one, box), (two, other) in combinations(enumerate(boxes), 2):
            together = self.pairs[_pair(box.label, other.label)]
            best[one], best[two] = max(best[one], together), max(best[two], together)
        return best


def learn_priors(gold: Gold, boxes: BoxesOfImages) -> Priors:
    """Count labels and pairs of labels, once for each description, however many boxes it has.

    Two boxes with the same label that are mentioned together count as a pair.
    """
    priors = Priors(Counter(), Counter())
    for image, descriptions in gold.items():
        for description in descriptions:
            labels = [boxes[image][box].label for box in description]
            priors.labels.update(set(labels))
            priors.pairs.update({_pair(*two) for two in combinations(labels, 2)})
    return priors


def size(boxes: Sequence[Box]) -> list[float]:
    """The share of the image that each box covers."""
    return [(box.x_max - box.x_min) * (box.y_max - box.y_min) for box in boxes]


def position(boxes: Sequence[Box]) -> list[float]:
    """Negative distance of each box's centre from the image's, whose sides have length 1."""
    return [
        -math.hypot((box.x_min + box.x_max - 1) / 2, (box.y_min + box.y_max - 1) / 2)
        for box in boxes
    ]


def run_baselines(
    gold: Gold, development: Gold, boxes: BoxesOfImages, *, seed: int = 0
) -> dict[str, Curve]:
    """Score every baseline on `gold`, with priors and best k from `development`.

    Raises UnfitParts, and NothingToScore if one of the two has no description.
    """
    check_parts(gold, development, boxes)
    priors = learn_priors(development, boxes)
    cues: dict[str, Cue] = {
        "position": position,
        "size": size,
        "unigram": priors.unigram,
        "bigram": priors.bigram,
    }
    on_development = _scores(development, boxes, cues, seed)
    return {
        name: Curve(scores, _best_k(on_development[name]))
        for name, scores in _scores(gold, boxes, cues, seed).items()
    }


def check_parts(gold: Gold, development: Gold, boxes: BoxesOfImages) -> None:
    """Raise UnfitParts if the two parts share an image, or mention an unknown box."""
    shared = sorted(gold.keys() & development.keys())
    if shared:
        raise UnfitParts(
            f"{len(shared)} of the images are also in the development part, for example "
            f"{shared[0]!r}. Priors must not be tested on the images that they were learnt from."
        )
    for image, descriptions in [*gold.items(), *development.items()]:
        unknown = sorted(frozenset().union(*descriptions) - boxes.get(image, {}).keys())
        if unknown:
            raise UnfitParts(
                f"A description of image {image!r} mentions box {unknown[0]!r}, which the boxes "
                "file does not have for this image."
            )


def rankings(
    boxes: Mapping[str, Box], cues: Mapping[str, Cue], chance: random.Random
) -> dict[str, list[str]]:
    """The ids of one image's boxes, best first, by each cue, at random and combined."""
    ids = sorted(boxes)
    chance.shuffle(ids)
    shuffled = [boxes[key] for key in ids]
    values = {name: cue(shuffled) for name, cue in cues.items()}
    rank_sums = map(sum, zip(*(ranks(one) for one in values.values()), strict=True))
    combined = [-total for total in rank_sums]
    return {
        "random": ids,
        **{name: _by_value(ids, one) for name, one in values.items()},
        "combined": _by_value(ids, combined),
    }


def ranks(values: Sequence[float]) -> list[int]:
    """For each value, how many are higher; equal values share a rank."""
    descending = sorted(values, reverse=True)
    return [descending.index(value) for value in values]


def _by_value(ids: Sequence[str], values: Sequence[float]) -> list[str]:
    """The ids by descending value; equal ones keep their order."""
    value_of = dict(zip(ids, values, strict=True))
    return sorted(ids, key=value_of.__getitem__, reverse=True)


def _scores(
    gold: Gold, boxes: BoxesOfImages, cues: Mapping[str, Cue], seed: int
) -> dict[str, list[Score]]:
    """Each baseline's scores for k = 1 to MOST_BOXES. If an image has fewer boxes, all are
    selected."""
    # One generator per image, so that its random choices do not depend on the other images.
    ranked = {
        image: rankings(boxes.get(image, {}), cues, random.Random(f"{seed} {image}"))
        for image in gold
    }
    return {
        name: [score_images(gold, _first(k, name, ranked)) for k in range(1, MOST_BOXES + 1)]
        for name in ("random", *cues, "combined")
    }


def _first(
    k: int, name: str, ranked: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, Boxes]:
    return {image: frozenset(by_name[name][:k]) for image, by_name in ranked.items()}


def _best_k(scores: Sequence[Score]) -> int:
    """The k with the highest F; the smallest one if several are equal."""
    return 1 + max(range(len(scores)), key=lambda place: scores[place].f)


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)
