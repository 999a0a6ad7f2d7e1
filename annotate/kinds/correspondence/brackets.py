"""Sentences with their links written into them, for people and for programs."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from corpora.language.tokens import tokens

# The number of a box that a word refers to, or a kind.
Mark = TypeVar("Mark", bound=int | str)
# Escaped by a backslash: brackets of the caption itself, and a number after a link, which would be
# read as one of its boxes.
SPECIAL = re.compile(r"[\\\[\]]")
CONTINUES = re.compile(r",?[0-9]")
# A character after a backslash, a passage in brackets with its boxes' numbers (`[two dogs]3,4`), or
# other text.
PART = re.compile(
    r"\\(?P<escaped>.)|\[(?P<linked>(?:\\.|[^\\\[\]])*)\](?P<boxes>[0-9]+(?:,[0-9]+)*)"
    r"|(?P<plain>[^\\\[]+|.)",
    re.DOTALL,
)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
ROUND = str.maketrans("[]", "()")
UNFIT = re.compile(r"[\s/\[\]]+")


def passages(
    caption: str, marked: Mapping[int, tuple[Mark, ...]]
) -> Iterator[tuple[str, tuple[Mark, ...]]]:
    """The caption in passages with their marks; joining the passages gives the caption.

    Neighbouring words with the same marks form one passage, for example `hot dog`.
    """
    places = tokens(caption)
    end = 0
    for marks, group in groupby(range(len(places)), key=lambda number: marked.get(number, ())):
        numbers = tuple(group)
        if marks:
            start = places[numbers[0]].start
            if start > end:
                yield caption[end:start], ()
            end = places[numbers[-1]].end
            yield caption[start:end], marks
    if end < len(caption):
        yield caption[end:], ()


def bracketed(caption: str, linked: Mapping[int, tuple[int, ...]]) -> str:
    """The format of figure 2 in Wang and Gaizauskas 2015: `A [woman]2 in a white [dress]0`.

    A backslash stands before brackets and backslashes of the caption itself, and before what would
    continue a list of boxes, so that `read_bracketed` gives the passages again.
    """
    parts, follows_link = [], False
    for text, boxes in passages(caption, linked):
        escaped = SPECIAL.sub(r"\\\g<0>", text)
        if boxes:
            parts.append(f"[{escaped}]{','.join(map(str, boxes))}")
        else:
            parts.append(f"\\{escaped}" if follows_link and CONTINUES.match(text) else escaped)
        follows_link = bool(boxes)
    return "".join(parts)


def read_bracketed(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The passages of a caption with links in brackets, with the numbers of their boxes."""
    plain = ""
    for part in PART.finditer(text):
        if part["boxes"] is None:
            plain += part["escaped"] or part["plain"]
            continue
        if plain:
            yield plain, ()
            plain = ""
        yield ESCAPED.sub(r"\1", part["linked"]), tuple(map(int, part["boxes"].split(",")))
    if plain:
        yield plain, ()


def entities(
    caption: str,
    linked: Mapping[int, tuple[int, ...]],
    names: Mapping[int, str],
    kinds: Mapping[int, str],
) -> str:
    """A sentence in the format of Flickr30k Entities: `A [/EN#2/woman woman] in white`.

    The id is the box's number, or several joined by `+`, and the type its class. Words without a
    box have the id 0 and their kind as type. The format has no way to write brackets of the caption
    itself, so they become round.
    """
    marked = {number: (kind,) for number, kind in kinds.items()} | dict(linked)
    return "".join(
        f"[/EN#{_entity_id(marks)}/{_entity_types(marks, names)} {text}]" if marks else text
        for text, marks in passages(caption.translate(ROUND), marked)
    )


def _entity_id(marks: tuple[int | str, ...]) -> str:
    return "+".join(str(mark) if isinstance(mark, int) else "0" for mark in marks)


def _entity_types(marks: tuple[int | str, ...], names: Mapping[int, str]) -> str:
    types = [mark if isinstance(mark, str) else names[mark] for mark in marks]
    # Each is one word and occurs once, because programs split at spaces and slashes.
    return "/".join(dict.fromkeys(UNFIT.sub("_", name.casefold()) for name in types))
