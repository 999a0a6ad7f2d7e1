"""Flags of captions that were not written for their image.

These are near-copies of captions and examples, repeated sentences, and captions of accounts that
copy each other.

Earlier captions that a new one may copy are looked up in constant time. A caption is filed under a
few keys: hashes of each three of its four rarest words, and one of the whole text. A near-copy
with one changed word always shares a key with the original, one with two changed words usually, and
different captions hardly ever. A key holds at most eight captions, so a look-up reads a bounded
number.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple, Protocol

from rapidfuzz.distance import Indel

from annotate.campaign_file import CampaignConfig, Flags
from corpora.language.english import rarity, stem, words
from qualcontrol.flags.flag import Flag

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


def most_shared(shared: Counter[Neighbour]) -> list[Neighbour]:
    """The captions found most often, at most COMPARED; among equals the earliest first."""
    return sorted(shared, key=lambda caption: (-shared[caption], caption.key))[:COMPARED]


# By style. Hardly any caption of nocaps, COCO, DOCCI and ImageInWords comes near it: see
# docs/flags.md and `benchmarks.flags`.
FRAME_SIMILARITY = {"sentence": 0.65, "paragraph": 0.5}
# Not measured, as no pairs of accounts are known. Fewer copies, or later ones, can be chance.
TWIN_COPIES = 3
TWIN_TIME = timedelta(hours=2)
# Characters that a flag quotes of another text: a whole sentence, and the beginning of a paragraph.
QUOTED = 300


class Match(NamedTuple):
    """An earlier caption, and its similarity to the new one."""

    similarity: float
    original: Neighbour


def similarity(text: str, other: str) -> float:
    """The similarity of two texts' words, 0 to 1: twice the length of their common words, in order,
    divided by their total length. Case and punctuation are ignored."""
    return Indel.normalized_similarity(_plain(text), _plain(other))


def frame_similarity(text: str, other: str) -> float:
    """The similarity by whole words: sentences that differ only in their nouns are similar."""
    return Indel.normalized_similarity(words(text), words(other))


def copy_flags(
    caption: Neighbour,
    config: CampaignConfig,
    neighbours: Neighbours,
    examples: Sequence[str],
    given: Sequence[str],
) -> list[Flag]:
    """Return the flags of copying, and store the caption for later look-ups. `examples` are the
    good ones in the instructions, and `given` captions of the image that the page showed."""
    limits = config.flags
    sharing, open_keys = neighbours.look_up(keys_of(caption.text))
    latest = [_match(caption.text, other) for other in neighbours.latest_of(caption.worker)]
    met = [_match(caption.text, other) for other in sharing]
    own = [match for match in met if match.original.worker == caption.worker]
    others = [match for match in met if match.original.worker != caption.worker]
    flags = [
        _example(caption, config, examples, given),
        _own([*own, *latest], limits),
        _repeats(caption, [match.original for match in latest], config),
        *_others(caption, others, limits, neighbours),
    ]
    neighbours.file(caption, open_keys)
    return [flag for flag in flags if flag is not None]


def _quoted(original: Neighbour) -> str:
    """The beginning of a text, for the sentence of a flag: of whole words, if it has spaces."""
    text = " ".join(original.text.split())
    if len(text) <= QUOTED:
        return text
    cut = text[: QUOTED - 1]
    whole, _, _ = cut.rpartition(" ")
    return f"{whole if len(whole) > QUOTED // 2 else cut[:-1]} …"


def _match(text: str, original: Neighbour) -> Match:
    return Match(similarity(text, original.text), original)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(words(text))


def _copied(matches: Iterable[Match], limits: Flags) -> Match | None:
    """The most similar match, if it is a near-copy."""
    near = [match for match in matches if match.similarity >= limits.copy_similarity]
    return max(near, key=lambda match: match.similarity, default=None)


def _example(
    caption: Neighbour, config: CampaignConfig, examples: Sequence[str], given: Sequence[str]
) -> Flag | None:
    shown = [*examples, *(example.text for example in config.instructions.bad), *given]
    if not shown:
        return None
    alike, example = max((similarity(caption.text, text), text) for text in shown)
    least = config.flags.copy_similarity
    if alike < least:
        return None
    is_given = example in given
    source = "a caption that was given to rate" if is_given else "an example from the instructions"
    return Flag("copies_example", alike, least, f"Copies {source}.")


def _own(own: Iterable[Match], limits: Flags) -> Flag | None:
    match = _copied(own, limits)
    if match is None:
        return None
    why = f"Repeats an earlier caption by the same worker: “{_quoted(match.original)}”"
    return Flag("copies_own", match.similarity, limits.copy_similarity, why)


def _repeats(
    caption: Neighbour, latest: Sequence[Neighbour], config: CampaignConfig
) -> Flag | None:
    limits, least = config.flags, FRAME_SIMILARITY[config.captions.style]
    alike = [other for other in latest if frame_similarity(caption.text, other.text) >= least]
    if len(alike) < limits.repeats:
        return None
    why = (
        f"{len(alike)} of the worker's latest {len(latest)} captions are similar, "
        f"such as “{_quoted(alike[-1])}”"
    )
    return Flag("repeats", len(alike), limits.repeats, why)


def _others(
    caption: Neighbour, others: Iterable[Match], limits: Flags, neighbours: Neighbours
) -> list[Flag]:
    match = _copied(others, limits)
    if match is None:
        return []
    original = match.original
    neighbours.note_copy(caption, original, match.similarity)
    why = f"Similar to an earlier caption by another worker: “{_quoted(original)}”"
    flags = [Flag("copies_other", match.similarity, limits.copy_similarity, why)]
    count = neighbours.copies_of(caption.worker, original.worker)
    if count >= TWIN_COPIES and _in_step(caption, neighbours.whole(original)):
        why = (
            f"{count} of the worker's captions copy one other account shortly after it wrote them."
        )
        flags.append(Flag("twin_account", count, TWIN_COPIES, why))
    return flags


def _in_step(caption: Neighbour, original: Neighbour) -> bool:
    """Whether the two captions came within TWIN_TIME of each other from the same type of device."""
    if caption.at is None or original.at is None or caption.device != original.device:
        return False
    return abs(caption.at - original.at) <= TWIN_TIME
