"""Look up earlier captions that a new caption may copy, in constant time.

A caption is filed under a few keys: hashes of each three of its four rarest words, and one of the
whole text. A near-copy with one changed word always shares a key with the original, one with two
changed words usually, and different captions hardly ever. A key holds at most eight captions, so a
look-up reads a bounded number.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from math import comb
from typing import NamedTuple, Protocol

from annotate.language.english import rarity, stem, words

RAREST = 4
IN_A_KEY = 3
KEYS = comb(RAREST, IN_A_KEY) + 1  # maximum number of keys of a caption
# Maximum number of captions stored under one key. Later captions find these and are not stored.
KEY_HOLDS = 8
# The most candidates whose texts are compared: those that share the most keys.
COMPARED = 20
# The number of a worker's latest captions that are searched for a repeated sentence.
LATEST = 30


class Neighbour(NamedTuple):
    """An earlier caption."""

    key: int  # of the response
    worker: int
    text: str
    at: datetime | None = None
    device: str = ""


class Found(NamedTuple):
    """The result of a look-up: at most COMPARED captions, and the keys that are not full.

    Captions that share the most keys come first. Their time and device may be missing.
    """

    captions: list[Neighbour]
    open_keys: list[int]


class Neighbours(Protocol):
    """A store of a campaign's earlier captions."""

    def look_up(self, keys: Sequence[int]) -> Found:
        """The captions filed under any of the keys."""

    def latest_of(self, worker: int) -> list[Neighbour]:
        """The worker's latest captions, at most LATEST."""

    def whole(self, caption: Neighbour) -> Neighbour:
        """A caption from a look-up, with its time and device."""

    def copies_of(self, worker: int, other: int) -> int:
        """The number of the worker's captions that are near-copies of the other's."""

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        """File the caption under the keys, for later look-ups."""

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        """Record that the caption is a near-copy of another worker's."""


def keys_of(text: str) -> list[int]:
    """The keys of a caption: different 32-bit numbers, equal for equal words."""
    tokens = words(text)
    ranked = sorted({(-rarity(word), stem(word)) for word in tokens})
    rarest = list(dict.fromkeys(word for _, word in ranked))[:RAREST]
    shared = [" ".join(sorted(three)) for three in combinations(rarest, IN_A_KEY)]
    return sorted({zlib.crc32(part.encode()) for part in [*shared, "= " + " ".join(tokens)]})


class InMemory:
    """A store in memory, for benchmarks and tests."""

    def __init__(self) -> None:
        self._filed: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._latest: defaultdict[int, list[Neighbour]] = defaultdict(list)
        self._copies: defaultdict[tuple[int, int], int] = defaultdict(int)

    def look_up(self, keys: Sequence[int]) -> Found:
        filed = {key: self._filed.get(key, []) for key in keys}
        return Found(
            most_shared(Counter(caption for captions in filed.values() for caption in captions)),
            [key for key, captions in filed.items() if len(captions) < KEY_HOLDS],
        )

    def latest_of(self, worker: int) -> list[Neighbour]:
        return self._latest[worker][-LATEST:]

    def whole(self, caption: Neighbour) -> Neighbour:
        return caption

    def copies_of(self, worker: int, other: int) -> int:
        return self._copies[worker, other]

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        self._latest[caption.worker] = [*self._latest[caption.worker][1 - LATEST :], caption]
        for key in keys:
            self._filed[key].append(caption)

    def note_copy(self, caption: Neighbour, original: Neighbour, _similarity: float) -> None:
        self._copies[caption.worker, original.worker] += 1


def most_shared(found: Counter[Neighbour]) -> list[Neighbour]:
    """The captions found most often, at most COMPARED; among equals the earliest first."""
    return sorted(found, key=lambda caption: (-found[caption], caption.key))[:COMPARED]
