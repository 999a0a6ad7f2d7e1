"""Flags of captions that were not written for their image.

These are near-copies of captions and examples, repeated sentences, and captions of accounts that
copy each other.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Indel

from annotate.campaign_file import CampaignConfig, Flags
from annotate.language.english import words
from qualcontrol.flags.flag import Flag
from qualcontrol.flags.neighbours import Neighbour, Neighbours, keys_of

# The examples in caption_instructions.html, for campaigns without their own.
STANDING_EXAMPLES = (
    "Two cyclists ride past a row of parked cars on a wet street.",
    "An old man in a straw hat feeds pigeons beside a stone fountain.",
)


class Match(NamedTuple):
    """An earlier caption, and its similarity to the new one."""

    similarity: float
    original: Neighbour


def similarity(text: str, other: str) -> float:
    """The similarity of two texts' words, 0 to 1: twice the length of their common words, in order,
    divided by their total length. Case and punctuation are ignored."""
    return Indel.normalized_similarity(_plain(text), _plain(other))


def frame_similarity(text: str, other: str) -> float:
    """The same for whole words: sentences that differ only in their nouns are similar."""
    return Indel.normalized_similarity(words(text), words(other))


def copy_flags(caption: Neighbour, config: CampaignConfig, neighbours: Neighbours) -> list[Flag]:
    """Return the flags of copying, and store the caption for later look-ups."""
    limits = config.flags
    found, open_keys = neighbours.look_up(keys_of(caption.text))
    latest = [_match(caption.text, other) for other in neighbours.latest_of(caption.worker)]
    met = [_match(caption.text, other) for other in found]
    own = [match for match in met if match.original.worker == caption.worker]
    others = [match for match in met if match.original.worker != caption.worker]
    flags = [
        _example(caption, config),
        _own([*own, *latest], limits),
        _repeats(caption, [match.original for match in latest], limits),
        *_others(caption, others, limits, neighbours),
    ]
    neighbours.file(caption, open_keys)
    return [flag for flag in flags if flag is not None]


def _match(text: str, original: Neighbour) -> Match:
    return Match(similarity(text, original.text), original)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(words(text))


def _copied(matches: Iterable[Match], limits: Flags) -> Match | None:
    """The most similar match, if it is a near-copy."""
    near = [match for match in matches if match.similarity >= limits.copy_similarity]
    return max(near, key=lambda match: match.similarity, default=None)


def _example(caption: Neighbour, config: CampaignConfig) -> Flag | None:
    shown = config.instructions
    bad = [example.text for example in shown.bad]
    examples = [*(shown.good or STANDING_EXAMPLES), *bad]
    alike = max(similarity(caption.text, example) for example in examples)
    least = config.flags.copy_similarity
    if alike < least:
        return None
    return Flag("copies_example", alike, least, "Copies an example from the instructions.")


def _own(own: Iterable[Match], limits: Flags) -> Flag | None:
    match = _copied(own, limits)
    if match is None:
        return None
    why = f"Repeats an earlier caption by the same worker: “{match.original.text}”"
    return Flag("copies_own", match.similarity, limits.copy_similarity, why)


def _repeats(caption: Neighbour, latest: Sequence[Neighbour], limits: Flags) -> Flag | None:
    alike = [
        other
        for other in latest
        if frame_similarity(caption.text, other.text) >= limits.repeat_similarity
    ]
    if len(alike) < limits.repeats:
        return None
    why = (
        f"{len(alike)} of the worker's latest {len(latest)} captions are similar, "
        f"such as “{alike[-1].text}”"
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
    why = f"Similar to an earlier caption by another worker: “{original.text}”"
    flags = [Flag("copies_other", match.similarity, limits.copy_similarity, why)]
    count = neighbours.copies_of(caption.worker, original.worker)
    if count >= limits.twin_copies and _in_step(caption, neighbours.whole(original), limits):
        why = (
            f"{count} of the worker's captions copy one other account shortly after it wrote them."
        )
        flags.append(Flag("twin_account", count, limits.twin_copies, why))
    return flags


def _in_step(caption: Neighbour, original: Neighbour, limits: Flags) -> bool:
    """Whether the two captions came within `twin_hours` of each other from the same type of
    device."""
    if caption.at is None or original.at is None or caption.device != original.device:
        return False
    return abs(caption.at - original.at) <= timedelta(hours=limits.twin_hours)
