"""Compositional splits and their metric (Nikolaus et al. 2019, sections 3.1 to 3.3).

For each pair of concepts, images whose captions have the pair are held out from training. A model
generalises if it writes the pair for held-out images, although it has seen the two concepts only
apart.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from corpora.captioners.matching import Pair
from corpora.errors import DomainError
from corpora.evaluation.results import listed
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import numbered, read_json


class Described(NamedTuple):
    """A caption with its id and its image's id."""

    id: int
    image: int
    text: str


def read_captions(path: Path) -> list[Described]:
    """The captions of a captions file, or of a results file; raises MalformedFile.

    A captions file has `annotations` with ids. The captions of a results file are a list, and a
    caption's id is its place in it, from 0.
    """
    content = read_json(path)
    has_ids = isinstance(content, dict)
    rows = content.get("annotations") if has_ids else content
    if not isinstance(rows, list):
        raise MalformedFile(path, "it has no list `annotations`: is it a captions file?")
    if not rows:
        raise MalformedFile(path, "it has no caption")
    captions = []
    for place, entry in enumerate(numbered(path, rows, "annotations" if has_ids else "")):
        number, text = entry.whole("id") if has_ids else place, entry.values.get("caption")
        if not isinstance(text, str):
            raise entry.wrong(f"caption {short(text)} is not a text")
        captions.append(Described(number, entry.whole("image_id"), text))
    if len({caption.id for caption in captions}) < len(captions):
        raise MalformedFile(path, "two captions have the same id")
    return captions


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
    Raises DomainError if `evaluation` has an image of `captions`.
    """
    held_out = captions.images_with(pair)
    training = sorted(captions.captions.keys() - set(held_out))
    if evaluation is not None:
        if shared := sorted(captions.captions.keys() & evaluation.captions.keys()):
            raise DomainError(
                "The captions for evaluation must be of other images. Both files have images "
                f"{listed(shared)}."
            )
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
    with_pair = sum(1 for image in images if generated.with_pair[image][pair.name])
    return Recall(len(images), with_pair)


def recall_by_agreement(
    pair: Pair, images: Sequence[int], references: Occurrences, generated: Occurrences
) -> dict[int, Recall]:
    """Recall@K by the number of the image's reference captions that have the pair."""
    groups: dict[int, list[int]] = defaultdict(list)
    for image in images:
        groups[references.with_pair[image][pair.name]].append(image)
    return {agree: recall(pair, group, generated) for agree, group in sorted(groups.items())}
