"""Earlier captions that a new one may be a copy of, found in a time that does not grow with them.

A caption is filed under a few keys, each the hash of three of its four rarest words, and one for
the whole text. A near-copy that changes one word shares a key for certain, one that changes two
mostly does; captions that are nothing alike hardly ever do. A key takes at most eight captions, so
a look-up meets a bounded number, however many there are.
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
KEYS = comb(RAREST, IN_A_KEY) + 1  # of a caption, at most
# Captions filed under one key, at most; what comes later finds these.
KEY_HOLDS = 8
# Candidates whose texts are compared, at most: those that share the most keys.
COMPARED = 20
# A worker's latest captions, among which the same sentence used again is looked for.
LATEST = 30


class Neighbour(NamedTuple):
    """A caption that was there before."""

    key: int  # the response's
    worker: int
    text: str
    at: datetime | None = None
    device: str = ""


class Found(NamedTuple):
    """What a look-up met: at most COMPARED captions, those that share the most keys first (their
    time and device may be left out), and the keys that are not full."""

    captions: list[Neighbour]
    open_keys: list[int]


class Neighbours(Protocol):
    """The captions of a campaign so far."""

    def look_up(self, keys: Sequence[int]) -> Found:
        """The captions that are filed under any of the keys."""

    def latest_of(self, worker: int) -> list[Neighbour]:
        """The worker's own, the latest LATEST of them."""

    def whole(self, caption: Neighbour) -> Neighbour:
        """One that was looked up, with its time and device."""

    def copies_of(self, worker: int, other: int) -> int:
        """How many captions of the worker are near-copies of the other's."""

    def file(self, caption: Neighbour, keys: Sequence[int]) -> None:
        """Have later captions find this one under the keys."""

    def note_copy(self, caption: Neighbour, original: Neighbour, similarity: float) -> None:
        """Keep that the caption is a near-copy of another worker's."""


def keys_of(text: str) -> list[int]:
    """The keys of a caption, 32-bit numbers, each once; equal for equal words."""
    tokens = words(text)
    ranked = sorted({(-rarity(word), stem(word)) for word in tokens})
    rarest = list(dict.fromkeys(word for _, word in ranked))[:RAREST]
    shared = [" ".join(sorted(three)) for three in combinations(rarest, IN_A_KEY)]
    return sorted({zlib.crc32(part.encode()) for part in [*shared, "= " + " ".join(tokens)]})


class InMemory:
    """The captions of a campaign in memory, for experiments and tests."""

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
    """Those that were found most often, COMPARED at most; the earlier first among equals."""
    return sorted(found, key=lambda caption: (-found[caption], caption.key))[:COMPARED]
