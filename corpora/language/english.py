"""English words: uniform spelling, frequency and stems; the similarity of an image's captions.

Does not use Django. Frequencies are those of wordfreq (Speer 2022) on the Zipf scale, the base-10
logarithm of the occurrences per billion words: 7.7 for "the", 4 for "bicycle", 1.5 for rare words.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from corpora.language.tokens import written

ONE_SORT = str.maketrans("’ʼ‐‑", "''--")
COMMONEST = 8.0
# Words below this frequency are probably typing errors; wordfreq contains common errors, too.
LEAST_KNOWN = 1.5
ENDINGS = (("ies", "y", 5), ("sses", "ss", 6), ("ches", "ch", 6), ("shes", "sh", 6), ("s", "", 4))

# English function words; all other words count as content words. Van Miltenburg et al. (2018) take
# nouns, verbs, adjectives and adverbs by a part-of-speech tagger. A closed list needs no tagger; it
# has articles, pronouns, prepositions, conjunctions, auxiliary verbs and number words.
_WORDS = """
a an the this that these those some any no each every either neither both all half such i me my
mine myself you your yours yourself he him his himself she her hers herself it its itself we us
our ours ourselves they them their theirs themselves one ones someone something somebody anyone
anything everyone everything nobody nothing none other others another who whom whose which what
whatever where when why how there here about above across after against along alongside amid among
amongst around as at atop before behind below beneath beside besides between beyond by despite
down during except for from in inside into like near next of off on onto opposite out outside over
past per through throughout to toward towards under underneath until up upon via with within
without and but or nor so yet if because while whereas although though since unless than then be
am is are was were been being isn't aren't wasn't weren't have has had having do does did doing
done don't doesn't didn't can cannot can't could will would shall should may might must not n't 's
it's that's there's two three four five six seven eight nine ten eleven twelve first second third
"""
FUNCTION_WORDS = frozenset(_WORDS.split())


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of a text (see `corpora.language.tokens`) in a uniform spelling.

    Lower case, compatibility characters unified, one kind of apostrophe and of hyphen.
    """
    unified = unicodedata.normalize("NFKC", text).casefold()
    return tuple(written(unified if unified.isascii() else unified.translate(ONE_SORT)))


@cache
def _frequencies() -> dict[str, float]:
    from wordfreq import get_frequency_dict

    return get_frequency_dict("en")


def load() -> None:
    """Read the frequencies, some 40 MB, now and not when the first word needs them.

    Processes that run for long do it at their start: their memory does not grow later, and the
    children of Celery's worker share it.
    """
    _frequencies()


def frequency(word: str) -> float:
    """Frequency of a lower-case word on the Zipf scale; 0 if wordfreq does not have it."""
    share = _frequencies().get(word)
    return math.log10(share) + 9 if share else 0.0


@lru_cache(maxsize=65_536)
def is_known(word: str) -> bool:
    """Whether English has the word, or all parts of a hyphenated or possessive word."""
    plain = word.removesuffix("'s")
    parts = [part for part in re.split("[-']", plain) if len(part) > 1]
    return any(character.isdigit() for character in word) or (
        frequency(plain) >= LEAST_KNOWN or all(frequency(p) >= LEAST_KNOWN for p in parts)
    )


@lru_cache(maxsize=65_536)
def rarity(word: str) -> float:
    """How informative a word is: 0 for "a", 4 for "dog", 7 for an unknown word."""
    return COMMONEST - max(frequency(word), 1.0)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The common part of a word's inflections: "dogs" and "dog", "riding" and "rides"."""
    word = word.removesuffix("'s")
    for ending, kept, least in ENDINGS:
        if word.endswith(ending) and len(word) >= least and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + kept
            break
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and re.search("[aeiouy]", base):
            is_doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if is_doubled else base
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


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
