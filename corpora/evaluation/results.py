"""Read and check results, a caption for each image in COCO's results form, and the scores of a
metric that was computed elsewhere, such as CLIPScore or Polos."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from corpora.errors import DomainError
from corpora.evaluation.scoring import Outside
from corpora.language.text import MOST_CHARACTERS
from corpora.reading.files import MalformedFile, printable, short
from corpora.reading.json_files import is_number, read_json, read_json_once

NAMED = 20


class WrongResults(DomainError):
    """The results do not fit the images; the message names the first images."""


def read_results(path: Path, *, name: str | None = None) -> dict[int, str]:
    """The caption of each image; raises MalformedFile and WrongResults.

    An empty caption is allowed and scores 0. `name` is the file's name in error messages.
    """
    name = name or str(path)
    content = read_json(path, name=name)
    if not isinstance(content, list):
        raise MalformedFile(name, 'results are a list of {"image_id": …, "caption": …}')
    for number, entry in enumerate(content):
        if not isinstance(entry, dict) or not {"image_id", "caption"} <= entry.keys():
            reason = f"entry {number}: {short(entry)} has no `image_id` and `caption`"
            raise MalformedFile(name, reason)
    # Each rule is checked after the ones before it.
    for title, is_wrong in RULES:
        _refuse(name, title, [entry["image_id"] for entry in content if is_wrong(entry)])
    counts = Counter(entry["image_id"] for entry in content)
    _refuse(name, "Images with several captions", [image for image, n in counts.items() if n > 1])
    return {entry["image_id"]: entry["caption"] for entry in content}


def check_images(
    results: Collection[int], *, wanted: Collection[int], without: Collection[int] = (), name: str
) -> None:
    """Raise WrongResults if images are missing or unknown.

    `wanted` has the images with references, and `without` other images, which may have results.
    """
    expected, given = set(wanted), set(results)
    _refuse(name, "Images without a caption", sorted(expected - given))
    _refuse(name, "Captions of unknown images", sorted(given - expected - set(without)))


# What may be wrong with an entry.
RULES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("Image ids that are not whole numbers", lambda entry: type(entry["image_id"]) is not int),
    ("Negative image ids", lambda entry: entry["image_id"] < 0),
    ("Captions that are not texts, of images", lambda e: not isinstance(e["caption"], str)),
    (
        f"Captions of more than {MOST_CHARACTERS:,} characters, of images",
        lambda entry: len(entry["caption"]) > MOST_CHARACTERS,
    ),
)


def _refuse(name: str, title: str, images: list[Any]) -> None:
    if images:
        raise WrongResults(printable(f"{name}: {title}: {listed(images)}."))


def listed(values: Iterable[Any]) -> str:
    """The first values, and the number of all if there are more."""
    values = list(values)
    shown = ", ".join(map(short, values[:NAMED]))
    return shown + (f", … ({len(values):,} in all)" if len(values) > NAMED else "")


# Keys of an entry that are not names of metrics.
OTHER_KEYS = {"image_id", "caption"}


def read_outside(path: Path, *, taken: Collection[str], images: Mapping[int, Any]) -> Outside:
    """The score of each of the images, by metric and image; raises MalformedFile and WrongResults.

    The file is a list of objects with `image_id` and one number for each metric, or an object from
    image id to such objects. `taken` has the names of figures that are computed here.
    """
    scores: dict[str, dict[int, float]] = {}
    for place, image, figures in _entries(path, read_json_once(path)):
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
        missing = sorted(images.keys() - by_image.keys())
        _refuse(f"{path}, {short(name)}", "Images without a score", missing)
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
    if not is_number(value):
        raise MalformedFile(
            path, f"{place}: {short(value)} is not a number that can be computed with"
        )
    return float(value)
