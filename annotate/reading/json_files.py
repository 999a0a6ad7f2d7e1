"""JSON from outside: parsed without a traceback, and free of texts that no database keeps."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotate.reading.files import MalformedFile, count_lines, open_text

PairsHook = Callable[[list[tuple[str, Any]]], Any]
SURROGATE = re.compile("[\ud800-\udfff]")
# How JSON writes what cannot be stored; also the halves of pairs, which can.
ESCAPED = re.compile(r"\\u(0000|[dD][89a-fA-F])")


class NotJson(ValueError):
    """A text that is not JSON, or whose values cannot be stored; the message says why."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def parse_json(text: str, *, pairs_hook: PairsHook | None = None) -> Any:
    """The text's value; raises NotJson with the line, counted from 1. The hook is json's
    `object_pairs_hook`."""
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
    """Raises NotJson if a text in the value cannot be stored; `written` is the value's JSON."""
    escape = ESCAPED.search(written)
    if escape and (reason := unstorable(value)):
        raise NotJson(f"a text in it {reason}", 1 + count_lines(written[: escape.start()]))


def read_json(path: Path, *, pairs_hook: PairsHook | None = None) -> Any:
    """A JSON file's content; raises MalformedFile."""
    with open_text(path) as text:
        try:
            return parse_json(text.read(), pairs_hook=pairs_hook)
        except NotJson as error:
            raise MalformedFile(text.name, str(error), error.line) from error


def unstorable(value: Any) -> str:
    """Why a text in a value, however deep, cannot be stored by a database; empty if all can."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "\0" in one:
                return "has a NUL character (U+0000)"
            if found := SURROGATE.search(one):
                return f"has half of a surrogate pair (U+{ord(found[0]):04X}), not a character"
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return ""
