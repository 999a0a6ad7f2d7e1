"""Read JSON files in COCO form: one object with lists of objects."""

from pathlib import Path
from typing import Any

from annotate.reading.files import MalformedFile, short
from annotate.reading.json_files import read_json


def read_coco(path: Path) -> dict[str, Any]:
    """The object in a file; raises MalformedFile."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise MalformedFile(path, "a file in COCO form is one JSON object")
    return content


def entries(path: Path, content: dict[str, Any], key: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its place for error messages; raises MalformedFile."""
    found = content.get(key)
    if not isinstance(found, list):
        raise MalformedFile(path, f"it has no list `{key}`: is it a file in COCO form?")
    named = [(f"{key}[{number}]", entry) for number, entry in enumerate(found)]
    for place, entry in named:
        if not isinstance(entry, dict):
            raise MalformedFile(path, f"{place}: {short(entry)} is not a JSON object")
    return named
