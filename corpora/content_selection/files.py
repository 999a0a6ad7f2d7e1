"""Read and check the JSON files of content selection.

Ids may be strings or whole numbers: 7 and "7" are the same id. An id that occurs twice in a list
counts once. A key that occurs twice in an object is an error, because one value would be lost.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from corpora.content_selection.baselines import Box
from corpora.content_selection.metric import Boxes
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import read_json_once

# A description as a file has it: the boxes that it mentions, or its mentions in order.
Description = TypeVar("Description")


def read_gold(path: Path) -> dict[str, list[Boxes]]:
    """The descriptions of each image, by the image's id; raises MalformedFile.

    An image with an empty list has no description. An empty list inside the list is a description
    that mentions no box.
    """
    return _read_descriptions(path, _box_ids)


def read_mentions(path: Path) -> dict[str, list[list[Boxes]]]:
    """The mentions of each description in their order, by the image's id; raises MalformedFile.

    Like `read_gold`, but a description is a list of mentions, each a list of the boxes that it
    refers to.
    """
    return _read_descriptions(path, _mentions)


def _read_descriptions(
    path: Path, read: Callable[[Path, str, Any], Description]
) -> dict[str, list[Description]]:
    descriptions = {}
    for image, entry in _read_object(path).items():
        place = f"image {short(image)}"
        descriptions[image] = [
            read(path, f"{place}, description {number}", description)
            for number, description in enumerate(_list(path, place, entry), start=1)
        ]
    return descriptions


def read_results(path: Path) -> dict[str, Boxes]:
    """The boxes selected for each image, by the image's id; raises MalformedFile."""
    return {
        image: _box_ids(path, f"image {short(image)}", entry)
        for image, entry in _read_object(path).items()
    }


def read_boxes(paths: Iterable[Path]) -> dict[str, dict[str, Box]]:
    """The boxes of each image by their ids, from `boxes.json` files; raises MalformedFile."""
    box_by_id: dict[str, tuple[str, Box]] = {}
    by_image: dict[str, dict[str, Box]] = {}
    for path in paths:
        for key, entry in _object(path, "boxes", _read_object(path).get("boxes")).items():
            image, box = _box(path, f"box {short(key)}", entry)
            if box_by_id.setdefault(key, (image, box)) != (image, box):
                raise MalformedFile(
                    path, f"box {short(key)}: another file has another box of this id"
                )
            by_image.setdefault(image, {})[key] = box
    return by_image


def _box(path: Path, place: str, entry: Any) -> tuple[str, Box]:
    """The id of the box's image, and the box."""
    entry = _object(path, place, entry)
    image = _id(path, f"{place}, image_id", entry.get("image_id"))
    label = entry.get("label")
    if not isinstance(label, str) or not label:
        raise MalformedFile(path, f"{place}: label {short(label)} is not a name")
    edges = _list(path, f"{place}, fractions", entry.get("fractions"))
    if len(edges) != 4 or not all(type(edge) in (int, float) and 0 <= edge <= 1 for edge in edges):
        raise MalformedFile(
            path, f"{place}: fractions {short(edges)} are not four numbers from 0 to 1"
        )
    box = Box(label, *map(float, edges))
    if box.x_min > box.x_max or box.y_min > box.y_max:
        raise MalformedFile(
            path, f"{place}: fractions {short(edges)} are not x_min, y_min, x_max, y_max"
        )
    return image, box


def _mentions(path: Path, place: str, entry: Any) -> list[Boxes]:
    return [
        _box_ids(path, f"{place}, mention {number}", mention)
        for number, mention in enumerate(_list(path, place, entry), start=1)
    ]


def _box_ids(path: Path, place: str, entry: Any) -> Boxes:
    return frozenset(_id(path, place, value) for value in _list(path, place, entry))


def _id(path: Path, place: str, value: Any) -> str:
    if type(value) not in (str, int):
        raise MalformedFile(
            path, f"{place}: {short(value)} is not an id (a string or a whole number)"
        )
    return str(value)


def _list(path: Path, place: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise MalformedFile(path, f"{place}: {short(value)} is not a list")
    return value


def _object(path: Path, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedFile(path, f"{place}: {short(value)} is not a JSON object")
    return value


def _read_object(path: Path) -> dict[str, Any]:
    return _object(path, "the file", read_json_once(path))
