"""The words of a caption and where they stand in it.

A word is a run of letters, digits and their marks; apostrophes and hyphens inside it belong to it
(`dog's`, `T-shirt`), as do points and commas between digits (`3.5`). Places count code points, as
Python's slices do. Text written without spaces between words is one word up to its next mark.
"""

from collections.abc import Iterator
from typing import NamedTuple

import regex

_RUN = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
WORD = regex.compile(rf"{_RUN}(?:(?:['’ʼ\-‐‑]|(?<=\p{{N}}[\p{{M}}]*)[.,:](?=\p{{N}})){_RUN})*")


class Token(NamedTuple):
    """A word: `caption[start:end] == text`."""

    text: str
    start: int
    end: int


def tokens(caption: str) -> list[Token]:
    """The caption's words in their order."""
    return [Token(found[0], *found.span()) for found in WORD.finditer(caption)]


def pieces(caption: str) -> Iterator[tuple[str, int | None]]:
    """The caption cut up: words with their number from 0, and what stands between them with None.
    Joined, the pieces are the caption again."""
    end = 0
    for number, token in enumerate(tokens(caption)):
        if token.start > end:
            yield caption[end : token.start], None
        yield token.text, number
        end = token.end
    if end < len(caption):
        yield caption[end:], None
