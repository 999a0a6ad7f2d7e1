"""How far the captions of one image say the same, by the similarity of their weighted words.

Plain Python. A caption is a vector over word stems; a stem weighs what its word says (TF-IDF with
wordfreq's frequencies in place of a collection's, so that a figure depends on the image's captions
alone and not on what came before). Vectors have length 1, a similarity is their dot product.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from annotate.language.english import rarity, stem, words

# What "a", "with" and "standing" weigh says nothing about an image.
LEAST_RARITY = 1.5


def mean_similarities(texts: Sequence[str]) -> list[float]:
    """Each caption's mean similarity to the others of its image, 0 to 1; 0 for one alone. The time
    grows with their number and not with its square."""
    vectors = [_vector(text) for text in texts]
    total: Counter[str] = Counter()
    for vector in vectors:
        total.update(vector)
    others = max(len(texts) - 1, 1)
    # A vector's product with the sum of all is that with the others, and 1 with itself.
    return [max(0.0, _dot(vector, total) - bool(vector)) / others for vector in vectors]


def _dot(vector: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other[word] for word, weight in vector.items())


@lru_cache(maxsize=4096)
def _vector(text: str) -> dict[str, float]:
    """The text's stems and their weights, of length 1; empty for a text that says nothing."""
    weights: dict[str, float] = {}
    for word in words(text):
        weight = rarity(word) - LEAST_RARITY
        if weight > 0:
            weights[stem(word)] = max(weight, weights.get(stem(word), 0.0))
    length = sum(weight * weight for weight in weights.values()) ** 0.5
    return {word: weight / length for word, weight in weights.items()}
