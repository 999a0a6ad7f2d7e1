"""The baselines of Wang and Gaizauskas 2015, sections 4 and 5.1, which select the k best boxes.

| baseline | selects first | source |
|---|---|---|
| random | any box | section 5 |
| position, size | boxes near the centre, large boxes | section 4.1 |
| unigram | labels that are often mentioned | section 4.2 |
| bigram | labels in the order in which people mention them, until none follows | section 4.2 |
| combined | the mean of a box's ranks by bigram and position | section 5.1 |
| combined_unigram | the mean of a box's ranks by unigram and position | section 5.1 |
| pair | labels that are often mentioned together with another label of the image | ours |
| rank_sum | the sum of a box's ranks by position, size, unigram and pair | ours |

Ties are broken at random and not by the order of the file, because annotators draw important
objects first.
"""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from statistics import fmean
from typing import NamedTuple

from corpora.content_selection.metric import Gold, Mentions, Summary, score_images
from corpora.errors import DomainError


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
    """Count labels and pairs of labels once for each description, even if several boxes have them.

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
            labels = [
                {boxes[image][key].label for key in mention} for mention in description if mention
            ]
            if labels:
                yield labels


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


MOST_BOXES = 15
# In the order of tables and figures. Two of them need the order of mention.
BASELINES = (
    "random",
    "position",
    "size",
    "unigram",
    "bigram",
    "combined",
    "combined_unigram",
    "pair",
    "rank_sum",
)
BY_ORDER = {"bigram", "combined"}
# Ids of an image's boxes, best first, by baseline.
Rankings = Mapping[str, Sequence[str]]


class Curve(NamedTuple):
    """A baseline's scores for k = 1 to MOST_BOXES, and the k that was best on development data."""

    scores: list[Summary]
    best_k: int

    @property
    def best(self) -> Summary:
        """The score at `best_k`."""
        return self.scores[self.best_k - 1]


class Learnt(NamedTuple):
    """The baselines' counts of development data; `bigrams` need the order of mention."""

    counts: Counts
    bigrams: Bigrams | None


def run_baselines(
    gold: Gold,
    development: Gold,
    boxes: BoxesOfImages,
    *,
    mentions: Mentions | None = None,
    seed: int = 0,
) -> dict[str, Curve]:
    """Score every baseline on `gold`, with priors and best k from `development`.

    `mentions` are the mentions of development images in their order. Without them, there is no
    `bigram` and no `combined` baseline. Raises DomainError, also if one of the two parts
    has no description.
    """
    check_parts(gold, development, boxes)
    learnt = Learnt(count_labels(development, boxes), None)
    if mentions is not None:
        check_parts(gold, _unordered(mentions), boxes)
        learnt = learnt._replace(bigrams=count_bigrams(mentions, boxes))
    on_development = _scores(development, boxes, learnt, seed)
    return {
        name: Curve(scores, _best_k(on_development[name]))
        for name, scores in _scores(gold, boxes, learnt, seed).items()
    }


def check_parts(gold: Gold, development: Gold, boxes: BoxesOfImages) -> None:
    """Raise DomainError if the two parts share an image, or mention an unknown box."""
    shared = sorted(gold.keys() & development.keys())
    if shared:
        raise DomainError(
            f"{len(shared)} of the images are also in the development part, for example "
            f"{shared[0]!r}. Priors must not be tested on the images that they were learnt from."
        )
    for image, descriptions in [*gold.items(), *development.items()]:
        unknown = sorted(frozenset().union(*descriptions) - boxes.get(image, {}).keys())
        if unknown:
            raise DomainError(
                f"A description of image {image!r} mentions box {unknown[0]!r}, which the boxes "
                "file does not have for this image."
            )


def size(boxes: Sequence[Box]) -> list[float]:
    """The share of the image that each box covers."""
    return [(box.x_max - box.x_min) * (box.y_max - box.y_min) for box in boxes]


def position(boxes: Sequence[Box]) -> list[float]:
    """Negative distance of each box's centre from the image's, whose sides have length 1."""
    return [
        -math.hypot((box.x_min + box.x_max - 1) / 2, (box.y_min + box.y_max - 1) / 2)
        for box in boxes
    ]


def rankings(boxes: Mapping[str, Box], learnt: Learnt, chance: random.Random) -> Rankings:
    """The ids of one image's boxes, best first, by each baseline.

    `bigram` has only the boxes that it selects; every other ranking has all boxes.
    """
    ids = sorted(boxes)
    chance.shuffle(ids)
    shuffled = {key: boxes[key] for key in ids}
    labelled = list(shuffled.values())
    values: dict[str, Sequence[float]] = {
        "position": position(labelled),
        "size": size(labelled),
        "unigram": learnt.counts.unigram(labelled),
        "pair": learnt.counts.pair(labelled),
    }
    by_cue = {name: ranks(scores) for name, scores in values.items()}
    by_rank: dict[str, list[Sequence[float]]] = {
        **{name: [cue_ranks] for name, cue_ranks in by_cue.items()},
        "combined_unigram": [by_cue["unigram"], by_cue["position"]],
        "rank_sum": list(by_cue.values()),
    }
    ranked = {"random": ids}
    if learnt.bigrams:
        ranked["bigram"] = learnt.bigrams.sequence(shuffled)
        by_rank["combined"] = [sequence_ranks(ids, ranked["bigram"]), by_cue["position"]]
    return ranked | {name: _by_mean_rank(ids, several) for name, several in by_rank.items()}


def ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value, from 1 for the highest; equal values share a rank."""
    descending = sorted(values, reverse=True)
    return [1 + descending.index(value) for value in values]


def sequence_ranks(ids: Sequence[str], selected: Sequence[str]) -> list[float]:
    """The rank of each box in a selection, from 1; boxes that are not selected share a mean rank.

    It is 0.5 × ((boxes + 1) - selected) + selected: 6.5 for six of nine boxes (section 5.1).
    """
    last = 0.5 * ((len(ids) + 1) - len(selected)) + len(selected)
    place = {key: rank for rank, key in enumerate(selected, start=1)}
    return [place.get(key, last) for key in ids]


def _by_mean_rank(ids: Sequence[str], several: Sequence[Sequence[float]]) -> list[str]:
    """The ids by the mean of their ranks, lowest first; equal ones keep their order."""
    mean = dict(zip(ids, map(fmean, zip(*several, strict=True)), strict=True))
    return sorted(ids, key=mean.__getitem__)


def _scores(
    gold: Gold, boxes: BoxesOfImages, learnt: Learnt, seed: int
) -> dict[str, list[Summary]]:
    """Each baseline's scores for k = 1 to MOST_BOXES. If an image has fewer boxes, all are
    selected."""
    # One generator per image, so that its random choices do not depend on the other images.
    ranked = {
        image: rankings(boxes.get(image, {}), learnt, random.Random(f"{seed} {image}"))
        for image in gold
    }
    return {
        name: [
            score_images(gold, {image: frozenset(best[name][:k]) for image, best in ranked.items()})
            for k in range(1, MOST_BOXES + 1)
        ]
        for name in BASELINES
        if learnt.bigrams or name not in BY_ORDER
    }


def _best_k(scores: Sequence[Summary]) -> int:
    """The k with the highest F; the smallest one if several are equal."""
    return 1 + max(range(len(scores)), key=lambda number: scores[number].mean.f)


def _unordered(mentions: Mentions) -> Gold:
    """The boxes of each description, without the order of mention."""
    return {
        image: [frozenset[str]().union(*description) for description in descriptions]
        for image, descriptions in mentions.items()
    }
