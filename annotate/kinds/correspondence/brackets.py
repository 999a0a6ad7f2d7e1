"""Sentences with their links written into them, for people and for programs."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TypeVar

from annotate.language.tokens import tokens

# The number of a box that a word refers to, or a kind.
Mark = TypeVar("Mark", bound=int | str)
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
    """The format of figure 2 in Wang and Gaizauskas 2015: `A [woman]2 in a white [dress]0`."""
    return "".join(
        f"[{text}]{','.join(map(str, boxes))}" if boxes else text
        for text, boxes in passages(caption, linked)
    )


def entities(
    caption: str,
    linked: Mapping[int, tuple[int, ...]],
    names: Mapping[int, str],
    kinds: Mapping[int, str],
) -> str:
    """A sentence in the format of Flickr30k Entities: `A [/EN#2/woman woman] in white`.

    The id is the box's number, or several joined by `+`, and the type its class. Words without a
    box have the id 0 and their kind as type.
    """
    marked = {number: (kind,) for number, kind in kinds.items()} | dict(linked)
    return "".join(
        f"[/EN#{_entity_id(marks)}/{_entity_types(marks, names)} {text}]" if marks else text
        for text, marks in passages(caption, marked)
    )


def _entity_id(marks: tuple[int | str, ...]) -> str:
    return "+".join(str(mark) if isinstance(mark, int) else "0" for mark in marks)


def _entity_types(marks: tuple[int | str, ...], names: Mapping[int, str]) -> str:
    types = [mark if isinstance(mark, str) else names[mark] for mark in marks]
    # Each is one word and occurs once, because programs split at spaces and slashes.
    return "/".join(dict.fromkeys(UNFIT.sub("_", name.casefold()) for name in types))
