"""Write and read JSON of any size in chunks."""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from typing import Any

CHUNK = 5000
DECODER = json.JSONDecoder()


def json_array(rows: Iterable[Any]) -> Iterator[str]:
    """A JSON array in chunks. Encoding lists is much faster than encoding row by row."""
    yield from _in_chunks(iter(rows), list, "[", "]")


def json_object(pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """A JSON object in chunks, like `json_array`; the keys must be different."""
    yield from _in_chunks(iter(pairs), dict, "{", "}")


def _in_chunks(
    rows: Iterator[Any], gather: Callable[[Iterable[Any]], Any], opening: str, closing: str
) -> Iterator[str]:
    yield opening
    between = ""
    while chunk := gather(islice(rows, CHUNK)):
        yield between + dump(chunk)[1:-1]
        between = ", "
    yield closing


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def members(texts: Iterable[str], name: str) -> Iterator[Any]:
    """The members of the top-level value `name`, read from a JSON text in chunks.

    Yields the objects of an array, or pairs of key and object. The text must be one of ours: each
    chunk begins and ends between two members.
    """
    pieces = iter(texts)
    start = re.compile(rf'"{name}": ([\[{{])')
    text = next(pieces, "")
    while not (found := start.search(text)):
        text += next(pieces)
    read = _items if found[1] == "[" else _pairs
    text = text[found.end() :]
    while True:
        done = yield from read(text)
        if done:
            return
        text = next(pieces)


def _items(text: str) -> Generator[Any, None, bool]:
    """The values in a part of an array; returns whether the array ends in it."""
    place = _next(text, 0)
    while place < len(text) and text[place] != "]":
        value, place = DECODER.raw_decode(text, place)
        yield value
        place = _next(text, place)
    return place < len(text)


def _pairs(text: str) -> Generator[tuple[str, Any], None, bool]:
    """The members in a part of an object; returns whether the object ends in it."""
    place = _next(text, 0)
    while place < len(text) and text[place] != "}":
        key, place = DECODER.raw_decode(text, place)
        value, place = DECODER.raw_decode(text, place + len(": "))
        yield key, value
        place = _next(text, place)
    return place < len(text)


def _next(text: str, place: int) -> int:
    """The place of the next value or closing bracket."""
    while place < len(text) and text[place] in ", ":
        place += 1
    return place
