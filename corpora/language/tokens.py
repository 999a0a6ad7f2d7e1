"""Define words and find them in a text.

A word is a run of letters, digits and their marks. It includes apostrophes and hyphens inside
(`dog's`, `T-shirt`), and points, commas and colons between digits (`3.5`). Text written without
spaces, as Chinese, Japanese and Thai are, is divided by ICU's dictionaries (docs/decisions/0028).

All other modules use this definition. Word–box links identify a word by its number (`tokens`,
`pieces`), campaign rules count words (`corpora.language.text`), and flags compare them in uniform
spelling (`corpora.language.english.words`). The word counter of the task page
(`static/hits/task.js`) implements the same definition; `tests/words.json` tests both. Stored
answers refer to words by number, so changing the definition would change their meaning.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import regex
from icu4py.breakers import WordBreaker

_RUN = r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d\u070f]*"
_WORD = rf"{_RUN}(?:(?:['’ʼ\-‐‑]|(?<=\p{{N}}[\p{{M}}]*)[.,:](?=\p{{N}})){_RUN})*"
# The same for ASCII text, which most captions are; takes half the time.
_PLAIN_WORD = r"[a-zA-Z0-9]+(?:(?:['-]|(?<=[0-9])[.,:](?=[0-9]))[a-zA-Z0-9]+)*"
# Scripts that put no spaces between words.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_LETTER = regex.compile(r"[\p{L}\p{N}]")
# ICU divides these scripts by dictionary in every locale.
_LOCALE = "en"
# It reads the dictionary at the first text that needs it, and may divide this text otherwise than
# later: `ー犬` into one word, and then into two.
list(WordBreaker("犬猫", _LOCALE))


class Token(NamedTuple):
    """A word: `caption[start:end] == text`. Positions count code points, as Python's slices do."""

    text: str
    start: int
    end: int


def is_unspaced(text: str) -> bool:
    """Whether the text has letters of a script without spaces between words."""
    return _UNSPACED.search(text) is not None


def tokens(caption: str) -> list[Token]:
    matches = _finder(caption.isascii()).finditer(caption)
    return [token for match in matches for token in _divided(match[0], match.start())]


def written(caption: str, marks: str = "") -> list[str]:
    """The words of a caption, together with those of the `marks` that stand between them."""
    runs: list[str] = _finder(caption.isascii(), marks).findall(caption)
    if not is_unspaced(caption):
        return runs
    return [
        text
        for run in runs
        for text in ([run] if run in marks else [token.text for token in _divided(run, 0)])
    ]


def _divided(run: str, start: int) -> Iterator[Token]:
    """The words of a run of letters that starts at this position: itself, if it has spaces around
    its words."""
    if not is_unspaced(run):
        yield Token(run, start, start + len(run))
        return
    # The breaker's own positions count UTF-16 units.
    for segment in WordBreaker(run, _LOCALE):
        if _LETTER.search(segment):
            yield Token(segment, start, start + len(segment))
        start += len(segment)


@cache
def _finder(is_plain: bool, marks: str = "") -> Any:
    word = _PLAIN_WORD if is_plain else _WORD
    pattern = f"{word}|[{re.escape(marks)}]" if marks else word
    return re.compile(pattern) if is_plain else regex.compile(pattern)


def pieces(caption: str) -> Iterator[tuple[str, int | None]]:
    """The caption in pieces: words with their number from 0, other text with None.

    Joining the pieces gives the caption.
    """
    end = 0
    for number, token in enumerate(tokens(caption)):
        if token.start > end:
            yield caption[end : token.start], None
        yield token.text, number
        end = token.end
    if end < len(caption):
        yield caption[end:], None
