"""Compositional splits and their metric (Nikolaus et al. 2019, sections 3.1 to 3.3).

For each pair of concepts, images whose captions have the pair are held out from training. A model
generalises if it writes the pair for held-out images, although it has seen the two concepts only
apart.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from annotate.captioners.concepts import Pair
from annotate.captioners.described import Described


class Occurrences(NamedTuple):
    """For each image the number of its captions with each pair, and the number of its captions."""

    with_pair: Mapping[int, Counter[str]]
    captions: Counter[int]

    def images_with(self, pair: Pair) -> list[int]:
        return sorted(image for image in self.captions if self.with_pair[image][pair.name])


class Split(NamedTuple):
    """Ids of the images of each part, in ascending order."""

    training: list[int]
    validation: list[int]
    evaluation: list[int]

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(images) for name, images in self._asdict().items()}


class Recall(NamedTuple):
    """Equation 1: the share of evaluation images for which a generated caption has the pair."""

    images: int
    found: int

    @property
    def value(self) -> float | None:
        return self.found / self.images if self.images else None


def count_pairs(captions: Iterable[tuple[Described, Iterable[str]]]) -> Occurrences:
    """Count the captions of each image, which come with the names of their pairs."""
    with_pair: dict[int, Counter[str]] = defaultdict(Counter)
    number: Counter[int] = Counter()
    for caption, pairs in captions:
        number[caption.image] += 1
        with_pair[caption.image].update(pairs)
    return Occurrences(with_pair, number)


def hold_out(
    pair: Pair,
    captions: Occurrences,
    *,
    evaluation: Occurrences | None = None,
    validation_share: float = 0.5,
    seed: int = 0,
) -> Split:
    """The split of one pair.

    Training has the images of which no caption has the pair. If `evaluation` has captions of other
    images, validation has the remaining images, and evaluation those of `evaluation` with the pair.
    Otherwise a share of the remaining images is drawn for validation, and evaluation has the rest.
    """
    held_out = captions.images_with(pair)
    training = sorted(captions.captions.keys() - set(held_out))
    if evaluation is not None:
        return Split(training, held_out, evaluation.images_with(pair))
    rng = random.Random(f"{seed}/{pair.name}")
    validation = set(rng.sample(held_out, round(validation_share * len(held_out))))
    return Split(
        training, sorted(validation), [image for image in held_out if image not in validation]
    )


def recall(pair: Pair, images: Sequence[int], generated: Occurrences) -> Recall:
    """Recall@K of a pair for these images, with all captions generated for each.

    Images without a generated caption count as not found.
    """
    found = sum(1 for image in images if generated.with_pair[image][pair.name])
    return Recall(len(images), found)


def recall_by_agreement(
    pair: Pair, images: Sequence[int], references: Occurrences, generated: Occurrences
) -> dict[int, Recall]:
    """Recall@K by the number of the image's reference captions that have the pair."""
    groups: dict[int, list[int]] = defaultdict(list)
    for image in images:
        groups[references.with_pair[image][pair.name]].append(image)
    return {agree: recall(pair, group, generated) for agree, group in sorted(groups.items())}
