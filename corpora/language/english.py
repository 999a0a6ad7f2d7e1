"""English words: uniform spelling, frequency and stems.

Does not use Django. Frequencies are those of wordfreq (Speer 2022) on the Zipf scale, the base-10
logarithm of the occurrences per billion words: 7.7 for "the", 4 for "bicycle", 1.5 for rare words.
"""

import math
import re
import unicodedata
from functools import cache, lru_cache

from corpora.language.tokens import written

ONE_SORT = str.maketrans("’ʼ‐‑", "''--")
COMMONEST = 8.0
# Words below this frequency are probably typing errors; wordfreq contains common errors, too.
LEAST_KNOWN = 1.5
ENDINGS = (("ies", "y", 5), ("sses", "ss", 6), ("ches", "ch", 6), ("shes", "sh", 6), ("s", "", 4))


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
