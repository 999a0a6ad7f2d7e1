"""Textual priors, learnt from the descriptions of development images.

The unigram and bigram priors are those of Wang and Gaizauskas 2015, section 4.2. The pair prior is
not from the paper: it needs no order of mention.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from corpora.content_selection.metric import Boxes, Gold, Mentions


class Box(NamedTuple):
    """A labelled box; edges are fractions of the image's width and height."""

    label: str
    x_min: float
    y_min: float
    x_max: float
    y_max: float


# Boxes by their ids, by the image's id.
BoxesOfImages = Mapping[str, Mapping[str, Box]]


class Counts(NamedTuple):
    """In how many descriptions a label is mentioned, and two labels are mentioned together."""

    labels: Counter[str]
    pairs: Counter[tuple[str, str]]

    def unigram(self, boxes: Sequence[Box]) -> list[int]:
        """How often each box's label is mentioned."""
        return [self.labels[box.label] for box in boxes]

    def pair(self, boxes: Sequence[Box]) -> list[int]:
        """For each box, the highest count of its label together with another box's."""
        best = [0] * len(boxes)
        for (one, box), (two, other) in combinations(enumerate(boxes), 2):
            together = self.pairs[_pair(box.label, other.label)]
            best[one], best[two] = max(best[one], together), max(best[two], together)
        return best


class Bigrams(NamedTuple):
    """How often a label is mentioned first in a description, and directly after another label."""

    first: Counter[str]
    after: Mapping[str, Counter[str]]

    def sequence(self, boxes: Mapping[str, Box]) -> list[str]:
        """The ids of the selected boxes, in the order of selection.

        The first box has the label that is likeliest to be mentioned first. Each further one has
        the label that is likeliest to follow the label before it. The selection ends when no
        remaining label ever followed. Of several boxes with equal counts, the first one in `boxes`
        is selected.
        """
        waiting, selected, counts = dict(boxes), [], self.first
        while waiting:
            key = max(waiting, key=lambda key: counts[waiting[key].label])
            label = waiting.pop(key).label
            if not counts[label]:
                break
            selected.append(key)
            counts = self.after.get(label, Counter())
        return selected


def count_labels(gold: Gold, boxes: BoxesOfImages) -> Counts:
    """Count labels and pairs of labels, once for each description, however many boxes it has.

    Two boxes with the same label that are mentioned together count as a pair.
    """
    counts = Counts(Counter(), Counter())
    for image, descriptions in gold.items():
        for description in descriptions:
            labels = [boxes[image][box].label for box in description]
            counts.labels.update(set(labels))
            counts.pairs.update({_pair(*two) for two in combinations(labels, 2)})
    return counts


def count_bigrams(mentions: Mentions, boxes: BoxesOfImages) -> Bigrams:
    """Count the labels that begin a description, and the labels of neighbouring mentions.

    A mention of several boxes counts once for each of their labels.
    """
    first: Counter[str] = Counter()
    after: dict[str, Counter[str]] = defaultdict(Counter)
    for labels in _label_sequences(mentions, boxes):
        first.update(labels[0])
        for before, following in pairwise(labels):
            for label in before:
                after[label].update(following)
    return Bigrams(first, after)


def _label_sequences(mentions: Mentions, boxes: BoxesOfImages) -> Iterator[list[set[str]]]:
    """The labels of each mention, for each description that has mentions."""
    for image, descriptions in mentions.items():
        for description in descriptions:
            labels = [_labels(mention, boxes[image]) for mention in description if mention]
            if labels:
                yield labels


def _labels(mention: Boxes, boxes: Mapping[str, Box]) -> set[str]:
    return {boxes[key].label for key in mention}


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)
