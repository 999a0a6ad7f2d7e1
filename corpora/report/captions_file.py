"""Read a captions file in COCO form as a dataset.

Exports of this product and nocaps' file have further keys that are used where they are: an image's
`domain`, and an annotation's `worker` and `primed`. COCO keeps boxes in their own file, an
instances file with the same image ids.
"""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from corpora.errors import DomainError
from corpora.evaluation.references import in_language
from corpora.language.languages import ENGLISH
from corpora.language.text import MOST_CHARACTERS
from corpora.reading.files import MalformedFile, short
from corpora.reading.json_files import JsonEntry, entries, read_coco
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


def read_dataset(
    path: Path,
    boxes: Path | None = None,
    table: DomainTable | None = None,
    language: str | None = None,
) -> Dataset:
    """The dataset in a captions file, with the boxes of an instances file.

    `table` has the domains of the boxes' classes (default: nocaps' 119 classes). Where annotations
    have a key `language`, only those in this language are read.

    Raises MalformedFile, which names the entry, and DomainError.
    """
    content = read_coco(path)
    classes_of = _read_boxes(boxes) if boxes else None
    images: dict[int, ReportImage] = {}
    for entry in entries(path, content, "images"):
        number = entry.whole("id")
        if number in images:
            raise entry.wrong(f"the image {number} occurs twice")
        images[number] = _image(entry, classes_of)
    if classes_of is not None and not classes_of.keys() & images.keys():
        raise DomainError(f"{boxes}: it has no image of {path}.")
    ordered = list(images.values())
    places = {number: index for index, number in enumerate(images)}
    chosen, found_language = in_language(path, entries(path, content, "annotations"), language)
    captions = sorted(
        (_caption(entry, places) for entry in chosen), key=lambda caption: caption.image
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


def _image(entry: JsonEntry, boxes: Boxes | None) -> ReportImage:
    number, subset = entry.whole("id"), entry.values.get("domain") or ""
    if not isinstance(subset, str) or len(subset) > 100:
        raise entry.wrong(f"domain {short(subset)} is not the name of a subset")
    return ReportImage(number, None if boxes is None else boxes.get(number, ()), subset)


def _caption(entry: JsonEntry, places: Mapping[int, int]) -> ReportCaption:
    number, text = entry.whole("image_id"), entry.text("caption")
    if number not in places:
        raise entry.wrong(f"there is no image {number}")
    if len(text) > MOST_CHARACTERS:
        raise entry.wrong(
            f"the caption has {len(text):,} characters, more than {MOST_CHARACTERS:,}"
        )
    worker, primed = entry.values.get("worker"), entry.values.get("primed")
    if worker is not None and type(worker) is not int:
        raise entry.wrong(f"worker {short(worker)} is not a whole number")
    if primed is not None and type(primed) is not bool:
        raise entry.wrong(f"primed {short(primed)} is neither true nor false")
    return ReportCaption(places[number], text, worker, primed)


def _read_boxes(path: Path) -> Boxes:
    """The class name of each box by its image's id."""
    content = read_coco(path)
    names = {
        entry.whole("id"): entry.text("name").strip()
        for entry in entries(path, content, "categories")
    }
    boxes: dict[int, list[str]] = defaultdict(list)
    for entry in entries(path, content, "annotations"):
        category = entry.whole("category_id")
        if category not in names:
            raise entry.wrong(f"there is no category {category}")
        boxes[entry.whole("image_id")].append(names[category])
    return {number: tuple(classes) for number, classes in boxes.items()}


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
