"""What a word is, and where the words of a text stand in it.

A word is a run of letters, digits and their marks; apostrophes and hyphens inside it belong to it
(`dog's`, `T-shirt`), as do points, commas and colons between digits (`3.5`). Text written without
spaces between words is one word up to its next mark.

Everything that speaks of words rests on this: links go by a word's number and place (`tokens`,
`pieces`), a campaign's rules count them (`annotate.language.text`), flags compare them in one
spelling (`annotate.language.english.words`), and the task page's counter (`static/hits/task.js`)
says it again, held to the same by `tests/words.json`. Stored answers name words by their numbers:
another definition would make them mean other words.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import regex

_RUN = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*"
_WORD = rf"{_RUN}(?:(?:['’ʼ\-‐‑]|(?<=\p{{N}}[\p{{M}}]*)[.,:](?=\p{{N}})){_RUN})*"
# The same in plain characters, in which nearly all English is written, and in half the time.
_PLAIN_WORD = r"[a-zA-Z0-9]+(?:(?:['-]|(?<=[0-9])[.,:](?=[0-9]))[a-zA-Z0-9]+)*"


class Token(NamedTuple):
    """A word: `caption[start:end] == text`. Places count code points, as Python's slices do."""

    text: str
    start: int
    end: int


def tokens(caption: str) -> list[Token]:
    """The caption's words in their order."""
    found = _finder(caption.isascii()).finditer(caption)
    return [Token(match[0], *match.span()) for match in found]


def written(caption: str, marks: str = "") -> list[str]:
    """The caption's words alone, with those of the marks that stand between them."""
    found: list[str] = _finder(caption.isascii(), marks).findall(caption)
    return found


@cache
def _finder(is_plain: bool, marks: str = "") -> Any:
    word = _PLAIN_WORD if is_plain else _WORD
    pattern = f"{word}|[{re.escape(marks)}]" if marks else word
    return re.compile(pattern) if is_plain else regex.compile(pattern)


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
