"""Read the scores of a metric that was computed elsewhere, such as CLIPScore or Polos."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpora.evaluation.results import check_images
from corpora.evaluation.scoring import Outside
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import read_json

# Keys of an entry that are no metric's name.
OTHER_KEYS = {"image_id", "caption"}


def read_outside(path: Path, *, taken: set[str], images: Mapping[int, Any]) -> Outside:
    """The score of each of the images, by metric and image; raises MalformedFile and WrongResults.

    The file is a list of objects with `image_id` and one number for each metric, or an object from
    image id to such objects. `taken` has the names of figures that are computed here.
    """
    scores: dict[str, dict[int, float]] = {}
    for place, image, figures in _entries(path, read_json(path)):
        for name, value in figures.items():
            by_image = scores.setdefault(name, {})
            if image in by_image:
                raise MalformedFile(path, f"{place}: the image {image} occurs twice")
            by_image[image] = _number(path, f"{place}, {short(name)}", value)
    if not scores:
        raise MalformedFile(path, "it has no score")
    for name, by_image in scores.items():
        if name in taken:
            raise MalformedFile(path, f"{name} is computed here; give its scores another name")
        check_images(by_image, wanted=images, without=by_image, name=f"{path}, {short(name)}")
    return scores


def _entries(path: Path, content: Any) -> Iterator[tuple[str, int, dict[str, Any]]]:
    if isinstance(content, list):
        named = [(f"entry {number}", entry) for number, entry in enumerate(content)]
    elif isinstance(content, dict):
        named = [(f"image {short(key)}", entry) for key, entry in content.items()]
    else:
        raise MalformedFile(path, "scores are a list, or an object from image id to scores")
    for (place, entry), key in zip(named, content, strict=True):
        if not isinstance(entry, dict):
            raise MalformedFile(path, f"{place}: {short(entry)} is not a JSON object")
        image = entry.get("image_id") if isinstance(content, list) else _as_number(key)
        if type(image) is not int:
            raise MalformedFile(path, f"{place}: {short(image)} is not a whole number")
        yield place, image, {name: v for name, v in entry.items() if name not in OTHER_KEYS}


def _as_number(key: str) -> int | str:
    return int(key) if key.isascii() and key.isdigit() and len(key) < 19 else key


def _number(path: Path, place: str, value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise MalformedFile(path, f"{place}: {short(value)} is not a finite number")
    return float(value)
