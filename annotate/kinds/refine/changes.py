"""The changes of a version of a text, word by word, as plain Python."""

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from corpora.language.english import FUNCTION_WORDS, stem, words
from corpora.language.tokens import tokens


class Part(NamedTuple):
    """A part of two texts: the words that both have, or that one of them has."""

    what: Literal["kept", "added", "removed"]
    text: str
    words: int


def parts(before: str, after: str) -> Iterator[Part]:
    """The two texts as one, in parts. A word with other punctuation after it is another word."""
    old, new = _units(before), _units(after)
    # By words without spaces, so that the end of a text does not count as changed.
    changes = LCSseq.opcodes([unit.strip() for unit in old], [unit.strip() for unit in new])
    for is_kept, group in groupby(changes, key=lambda operation: operation.tag == "equal"):
        operations = list(group)
        first, last = operations[0], operations[-1]
        removed, added = old[first.src_start : last.src_end], new[first.dest_start : last.dest_end]
        if is_kept:
            yield Part("kept", "".join(added), len(added))
            continue
        if removed:
            yield Part("removed", "".join(removed), len(removed))
        if added:
            yield Part("added", "".join(added), len(added))


def _units(text: str) -> list[str]:
    """The text in pieces, each with one word and what follows it."""
    starts = [token.start for token in tokens(text)]
    if not starts:
        return [text] if text else []
    return [text[start:end] for start, end in pairwise([0, *starts[1:], len(text)])]


def edit_distance(before: str, after: str) -> int:
    """The least number of words to insert, remove or replace."""
    return Levenshtein.distance(
        [token.text for token in tokens(before)], [token.text for token in tokens(after)]
    )


def new_content_words(before: str, after: str) -> int:
    """How many English words, other than function words, are in the second text alone, each form of
    a word once."""
    return len(_content(after) - _content(before))


def _content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FUNCTION_WORDS}
