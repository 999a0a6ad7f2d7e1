"""Parse JSON from outside, also in COCO form, and refuse texts that a database cannot store."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpora.reading.files import MalformedFile, count_lines, open_text, short

# Products of squares of such numbers are finite, too.
MOST = 1e50
PairsHook = Callable[[list[tuple[str, Any]]], Any]
SURROGATE = re.compile("[\ud800-\udfff]")
# Escapes of characters that cannot be stored. Matches halves of surrogate pairs, too, although
# whole pairs can be stored.
ESCAPED = re.compile(r"\\u(0000|[dD][89a-fA-F])")


class NotJson(ValueError):
    """The text is not JSON or has a value that cannot be stored; the message gives the reason."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def parse_json(text: str, *, pairs_hook: PairsHook | None = None) -> Any:
    """The value of a JSON text; raises NotJson with the line, counted from 1.

    `pairs_hook` is the `object_pairs_hook` of `json.loads`.
    """
    try:
        value = json.loads(text, object_pairs_hook=pairs_hook)
    except json.JSONDecodeError as error:
        line = 1 + count_lines(text[: error.pos])
        raise NotJson(f"not valid JSON: {error.msg}", line) from error
    except RecursionError as error:
        raise NotJson("the JSON is nested too deeply", 1) from error
    except ValueError as error:
        raise NotJson("a number has more digits than can be read", 1) from error
    check_texts(value, text)
    return value


def check_texts(value: Any, written: str) -> None:
    """Raise NotJson if a text in the value cannot be stored; `written` is the value's JSON."""
    escape = ESCAPED.search(written)
    if escape and (reason := unstorable(value)):
        raise NotJson(f"a text in it {reason}", 1 + count_lines(written[: escape.start()]))


def read_json(path: Path, *, pairs_hook: PairsHook | None = None, name: str | None = None) -> Any:
    """The content of a JSON file; raises MalformedFile. `name` is its name in error messages."""
    with open_text(path, name=name) as text:
        try:
            return parse_json(text.read(), pairs_hook=pairs_hook)
        except NotJson as error:
            raise MalformedFile(text.name, str(error), error.line) from error


def read_json_once(path: Path) -> Any:
    """Like `read_json`, but a key that occurs twice in an object is an error, because one value
    would be lost."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = {}
        for key, value in pairs:
            if key in content:
                raise MalformedFile(path, f"the key {short(key)} occurs twice in one object")
            content[key] = value
        return content

    return read_json(path, pairs_hook=once)


def unstorable(value: Any) -> str:
    """The reason why a database cannot store a text inside the value; empty if it can store all."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if "\0" in part:
                return "has a NUL character (U+0000)"
            if found := SURROGATE.search(part):
                return f"has half of a surrogate pair (U+{ord(found[0]):04X}), not a character"
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list):
            waiting += part
    return ""


def is_number(value: Any) -> bool:
    """Whether the value is a number of at most MOST: JSON's own may be infinite or have hundreds of
    digits."""
    return type(value) in (int, float) and abs(value) <= MOST


def read_coco(path: Path) -> dict[str, Any]:
    """The object in a file; raises MalformedFile."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise MalformedFile(path, "a file in COCO form is one JSON object")
    return content


class JsonEntry(NamedTuple):
    """An object of a list in a file, and its place for error messages."""

    path: Path
    place: str
    values: dict[str, Any]

    def wrong(self, reason: str) -> MalformedFile:
        """The error to raise about the entry."""
        return MalformedFile(self.path, f"{self.place}: {reason}")

    def whole(self, key: str) -> int:
        """The whole number from 0 under this key; raises MalformedFile."""
        value = self.values.get(key)
        if type(value) is not int or not 0 <= value < 2**63:
            raise self.wrong(f"{key} {short(value)} is not a whole number from 0")
        return value

    def text(self, key: str) -> str:
        """The text under this key, which is not blank; raises MalformedFile."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"{key} {short(value)} is not a text")
        return value


def entries(path: Path, content: Mapping[str, Any], key: str) -> Iterator[JsonEntry]:
    """The objects of the list under this key; raises MalformedFile."""
    rows = content.get(key)
    if not isinstance(rows, list):
        raise MalformedFile(path, f"it has no list `{key}`: is it a file in COCO form?")
    return numbered(path, rows, key)


def numbered(path: Path, rows: Iterable[Any], name: str = "") -> Iterator[JsonEntry]:
    """The objects of a list; raises MalformedFile at one that is none."""
    for number, values in enumerate(rows):
        place = f"{name}[{number}]"
        if not isinstance(values, dict):
            raise MalformedFile(path, f"{place}: {short(values)} is not a JSON object")
        named = f"{place} (id {short(values['id'])})" if "id" in values else place
        yield JsonEntry(path, named, values)
