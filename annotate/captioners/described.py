"""Read captions in COCO form, several for each image."""

from pathlib import Path
from typing import Any, NamedTuple

from annotate.evaluation.references import image_id
from annotate.reading.files import MalformedFile, short
from annotate.reading.json_files import read_json


class Described(NamedTuple):
    """A caption with its id and its image's id."""

    id: int
    image: int
    text: str


def read_captions(path: Path) -> list[Described]:
    """The captions of a captions file, or of a results file; raises MalformedFile.

    A captions file has `annotations` with ids. The captions of a results file are a list, and a
    caption's id is its place in it, from 0.
    """
    content = read_json(path)
    entries = content.get("annotations") if isinstance(content, dict) else content
    if not isinstance(entries, list):
        raise MalformedFile(path, "it has no list `annotations`: is it a captions file?")
    if not entries:
        raise MalformedFile(path, "it has no caption")
    has_ids = isinstance(content, dict)
    found = [_caption(path, place, entry, has_ids) for place, entry in enumerate(entries)]
    if len({caption.id for caption in found}) < len(found):
        raise MalformedFile(path, "two captions have the same id")
    return found


def _caption(path: Path, place: int, entry: Any, has_id: bool) -> Described:
    named = f"caption {place}"
    if not isinstance(entry, dict):
        raise MalformedFile(path, f"{named}: {short(entry)} is not a JSON object")
    number = image_id(path, f"{named}, id", entry.get("id")) if has_id else place
    image = image_id(path, f"{named}, image_id", entry.get("image_id"))
    text = entry.get("caption")
    if not isinstance(text, str):
        raise MalformedFile(path, f"{named}: {short(text)} is not a text")
    return Described(number, image, text)
