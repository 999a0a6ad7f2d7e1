"""The ways in which the characters of a text come into its field, and their shares in a release.

Plain Python without Django. `static/hits/behaviour.js` names the ways.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

# The group of each way in what a release says of its texts.
WAYS: Mapping[str, str] = {
    "typed": "typed",  # one character at a time
    "composed": "typed",  # by an input method
    "completed": "typed",  # a word at once, for example by a phone's keyboard
    "replaced": "typed",  # by a correction of the spelling
    "dictated": "typed",  # several words at once, no faster than people speak
    "pasted": "pasted",
    "dropped": "pasted",  # dragged into the field
    "inserted": "inserted",  # several words at once, faster than people speak
    "unaccounted": "inserted",  # without any input event of the browser
    "given": "given",  # in the field when the page was opened
    "unknown": "unknown",  # written before the page counted, or brought back by undoing
}
GROUPS = tuple(dict.fromkeys(WAYS.values()))
BY_HAND = tuple(way for way, group in WAYS.items() if group == "typed")


# The number of characters of a text by way; None if nothing was counted.
Characters = Mapping[str, int] | None


def shares_of(texts: Iterable[Characters]) -> dict[str, Any] | None:
    """The means over all texts of the shares of each text's characters, from 0 to 1, by group, and
    by `ways`. A text without counts is unknown as a whole. None if all are."""
    sums = defaultdict[str, float](float)
    for characters in texts:
        used = {way: count for way, count in (characters or {}).items() if count}
        total = sum(used.values())
        for way, count in (used or {"unknown": 1}).items():
            sums[way] += count / (total or 1)
    if not sums.keys() - {"unknown"}:
        return None
    number = sum(sums.values())
    mean = {way: sums[way] / number for way in WAYS}
    groups = {
        group: round(sum(mean[way] for way in WAYS if WAYS[way] == group), 4) for group in GROUPS
    }
    return {**groups, "ways": {way: round(share, 4) for way, share in mean.items() if share}}


def in_words(ways: Mapping[str, float]) -> str:
    """The shares of `ways` for people, without those of 0: `92.1% typed, 7.9% pasted`. They are in
    the order of `WAYS`, which PostgreSQL's JSON does not keep."""
    return ", ".join(f"{ways[way]:.1%} {way}" for way in WAYS if ways.get(way))
