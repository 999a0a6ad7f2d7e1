"""The similarity of the captions of one image, measured by their weighted words.

Does not use Django. A caption is a vector over word stems. A stem is weighted as in TF-IDF, with
wordfreq's frequencies in place of a collection's, so that a result depends only on the image's
captions. Vectors have length 1; the similarity of two is their dot product.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from corpora.language.english import rarity, stem, words

# Words such as "a", "with" and "standing" say nothing about an image.
LEAST_RARITY = 1.5


def mean_similarities(texts: Sequence[str]) -> list[float]:
    """Each caption's mean similarity to the others, from 0 to 1; 0 for a single caption.

    Takes time linear in the number of captions.
    """
    vectors = [_vector(text) for text in texts]
    total: Counter[str] = Counter()
    for vector in vectors:
        total.update(vector)
    others = max(len(texts) - 1, 1)
    # The product of a vector with the sum of all vectors is its product with the others, plus 1 for
    # itself.
    return [max(0.0, _dot(vector, total) - bool(vector)) / others for vector in vectors]


def _dot(vector: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other[word] for word, weight in vector.items())


@lru_cache(maxsize=4096)
def _vector(text: str) -> dict[str, float]:
    """The text's stems and their weights, scaled to length 1; empty without significant words."""
    weights: dict[str, float] = {}
    for word in words(text):
        weight = rarity(word) - LEAST_RARITY
        if weight > 0:
            weights[stem(word)] = max(weight, weights.get(stem(word), 0.0))
    length = sum(weight * weight for weight in weights.values()) ** 0.5
    return {word: weight / length for word, weight in weights.items()}
