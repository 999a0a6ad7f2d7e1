"""Write TOML: the text of a campaign file from its values."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# A text with more characters gets a line for each item of its list.
LINE = 80


def toml_text(values: Mapping[str, Any]) -> str:
    """A TOML document with these values: texts, numbers, booleans, lists and tables.

    Values that are None are left out.
    """
    return "\n".join(_lines(values, ())).strip() + "\n"


def _lines(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    tables = {key: value for key, value in values.items() if _is_table(value)}
    for key, value in values.items():
        if key not in tables and value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in tables.items():
        place = (*path, key)
        name = ".".join(_key(part) for part in place)
        if isinstance(value, Mapping):
            yield from ("", f"[{name}]")
            yield from _lines(value, place)
        else:
            for row in value:
                yield from ("", f"[[{name}]]")
                yield from _lines(row, place)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(item, Mapping) for item in value)
    )


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _list([_value(item) for item in value])
    return _text(str(value))


def _list(items: list[str]) -> str:
    line = f"[{', '.join(items)}]"
    if len(line) <= LINE:
        return line
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _text(text: str) -> str:
    # TOML's escapes are those of JSON, and DEL has to be escaped, too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
