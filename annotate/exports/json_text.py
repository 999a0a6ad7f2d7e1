"""Write JSON of any size in chunks."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

CHUNK = 5000


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
