"""Read a captions file in COCO form as a dataset.

Exports of this product and nocaps' file have further keys that are used where they are: an image's
`domain`, and an annotation's `worker` and `primed`. COCO keeps boxes in their own file, an
instances file with the same image ids.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from corpora.errors import DomainError
from corpora.evaluation.references import in_language
from corpora.language.languages import ENGLISH
from corpora.language.text import MOST_CHARACTERS
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import entries, read_coco
from corpora.report.dataset import Dataset, ReportCaption, ReportImage, of_english_alone
from corpora.report.sections.base import Matrix
from corpora.selection.domains import DomainTable, preset

Boxes = Mapping[int, tuple[str, ...]]
USUAL_TABLE = "nocaps-119"
LACKS = {
    "boxes": "{name} is a captions file, which has no boxes.",
    "workers": "{name} does not say who wrote a caption.",
    "priming": "{name} does not say which captions were written with keywords.",
    "subsets": "{name} does not say which subset an image belongs to.",
}


class WrongDataset(DomainError):
    """The files do not fit each other."""


def read_dataset(
    path: Path,
    boxes: Path | None = None,
    table: DomainTable | None = None,
    language: str | None = None,
) -> Dataset:
    """The dataset in a captions file, with the boxes of an instances file.

    `table` has the domains of the boxes' classes (default: nocaps' 119 classes). Where annotations
    have a key `language`, only those in this language are read.

    Raises MalformedFile, which names the entry, and WrongDataset.
    """
    content = read_coco(path)
    classes_of = _read_boxes(boxes) if boxes else None
    images: dict[int, ReportImage] = {}
    for place, entry in entries(path, content, "images"):
        number = _number(path, place, entry, "id")
        if number in images:
            raise MalformedFile(path, f"{place}: the image {number} occurs twice")
        images[number] = _image(path, place, entry, classes_of)
    if classes_of is not None and not classes_of.keys() & images.keys():
        raise WrongDataset(f"{boxes}: it has no image of {path}.")
    ordered = list(images.values())
    places = {number: index for index, number in enumerate(images)}
    chosen, found_language = in_language(path, entries(path, content, "annotations"), language)
    captions = sorted(
        (_caption(path, place, entry, places) for place, entry in chosen),
        key=lambda caption: caption.image,
    )
    lacks = _lacks(path.stem, ordered, captions, classes_of) | of_english_alone(
        path.stem, found_language or ENGLISH
    )
    if classes_of is None:
        return Dataset(path.stem, ordered, captions, lacks)
    table = table or preset(USUAL_TABLE)
    names = sorted({name for classes in classes_of.values() for name in classes})
    domains = {name: table.of_class("", name) for name in names}
    return Dataset(path.stem, ordered, captions, lacks, domains, table.name)


def _lacks(
    name: str, images: list[ReportImage], captions: list[ReportCaption], boxes: Boxes | None
) -> dict[str, str]:
    has = {
        "boxes": boxes is not None,
        "workers": any(caption.worker is not None for caption in captions),
        "priming": any(caption.is_primed is not None for caption in captions),
        "subsets": any(image.subset for image in images),
    }
    return {key: LACKS[key].format(name=name) for key in LACKS if not has[key]}


def _image(path: Path, place: str, entry: dict[str, Any], boxes: Boxes | None) -> ReportImage:
    subset = entry.get("domain") or ""
    if not isinstance(subset, str) or len(subset) > 100:
        raise MalformedFile(path, f"{place}: domain {short(subset)} is not the name of a subset")
    classes = None if boxes is None else boxes.get(entry["id"], ())
    return ReportImage(entry["id"], classes, subset)


def _caption(
    path: Path, place: str, entry: dict[str, Any], places: Mapping[int, int]
) -> ReportCaption:
    number, text = _number(path, place, entry, "image_id"), entry.get("caption")
    if number not in places:
        raise MalformedFile(path, f"{place}: there is no image {number}")
    if not isinstance(text, str) or not text.strip():
        raise MalformedFile(path, f"{place}: there is no caption")
    if len(text) > MOST_CHARACTERS:
        reason = f"the caption has {len(text):,} characters, more than {MOST_CHARACTERS:,}"
        raise MalformedFile(path, f"{place}: {reason}")
    worker, primed = entry.get("worker"), entry.get("primed")
    if worker is not None and type(worker) is not int:
        raise MalformedFile(path, f"{place}: worker {short(worker)} is not a whole number")
    if primed is not None and type(primed) is not bool:
        raise MalformedFile(path, f"{place}: primed {short(primed)} is neither true nor false")
    return ReportCaption(places[number], text, worker, primed)


def _read_boxes(path: Path) -> Boxes:
    """The class name of each box by its image's id."""
    content = read_coco(path)
    names: dict[int, str] = {}
    for place, entry in entries(path, content, "categories"):
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip():
            raise MalformedFile(path, f"{place}: there is no name")
        names[_number(path, place, entry, "id")] = name.strip()
    boxes: dict[int, list[str]] = defaultdict(list)
    for place, entry in entries(path, content, "annotations"):
        category = _number(path, place, entry, "category_id")
        if category not in names:
            raise MalformedFile(path, f"{place}: there is no category {category}")
        boxes[_number(path, place, entry, "image_id")].append(names[category])
    return {number: tuple(classes) for number, classes in boxes.items()}


def _number(path: Path, place: str, entry: dict[str, Any], key: str) -> int:
    value = entry.get(key)
    if type(value) is not int or not 0 <= value < 2**63:
        raise MalformedFile(path, f"{place}: {key} {short(value)} is not a whole number from 0")
    return value


def read_features(path: Path, dataset: Dataset) -> Matrix:
    """The features of the dataset's images in their order; raises MalformedFile."""
    try:
        # Pickled objects could run any code, so they are refused.
        features = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", "") or "it is not a NumPy array of numbers (.npy)"
        raise MalformedFile(path, reason) from error
    is_matrix = isinstance(features, np.ndarray) and features.ndim == 2
    if not is_matrix or features.dtype.kind not in "fiu":
        raise MalformedFile(path, "features are one array of numbers with a row for each image")
    if len(features) != len(dataset.images):
        raise MalformedFile(
            path,
            f"it has {len(features):,} rows, but {dataset.name} has {len(dataset.images):,} "
            "images. Each image needs a row, in the order of the captions file's images.",
        )
    return _checked(path, features.astype(np.float64))


def _checked(path: Path, features: Matrix) -> Matrix:
    if not features.shape[1]:
        raise MalformedFile(path, "the rows are empty")
    wrong = np.flatnonzero(~np.isfinite(features).all(axis=1))
    if wrong.size:
        raise MalformedFile(path, f"row {wrong[0]} has a value that is not finite (NaN, infinity)")
    zero = np.flatnonzero(~features.any(axis=1))
    if zero.size:
        raise MalformedFile(path, f"row {zero[0]} has zeros only, so it has no direction")
    return features
