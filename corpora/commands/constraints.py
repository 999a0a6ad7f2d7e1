"""Choose the objects that a captioning model must mention in each image."""

import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpora.captioners.constraints import (
    MOST,
    OVERLAP,
    Candidate,
    choose_constraints,
    excluded_by_name,
    excluded_classes,
    levels,
    read_detections,
)
from corpora.commands import WrongOptions, bytes_shown, write
from corpora.datasets.coco import read_instances
from corpora.datasets.openimages import read_classes, read_hierarchy
from corpora.language.word_forms import word_forms
from corpora.reading.files import is_json
from corpora.reading.tables import open_csv

HELP = (
    "For each image, write the objects that a captioning model must mention: the constraints of "
    "nocaps (Agrawal et al. 2019, section 4), with their words."
)


class ImageBoxes(NamedTuple):
    """The boxes of an image, and the ids that its entry has."""

    ids: Mapping[str, Any]
    boxes: Iterable[Candidate]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "boxes",
        type=Path,
        metavar="BOXES",
        help="a COCO instances file (.json), or boxes or detections in the form of Open Images, a "
        "CSV file",
    )
    parser.add_argument(
        "--classes",
        type=Path,
        metavar="FILE",
        help="class descriptions of Open Images, a CSV file with label and name; needed with a CSV "
        "file",
    )
    parser.add_argument(
        "--hierarchy",
        type=Path,
        metavar="FILE",
        help="class hierarchy of Open Images, a JSON file: of two boxes in the same place, the one "
        "with the higher class is removed (default: both stay)",
    )
    add_options(parser)


def add_options(parser: ArgumentParser) -> None:
    """Add everything but the boxes."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for constraints.json (default: print it)",
    )


def run(
    *, boxes: Path, classes: Path | None, hierarchy: Path | None, out: Path | None
) -> Iterator[str]:
    is_coco = is_json(boxes)
    if is_coco and (classes or hierarchy):
        raise WrongOptions("--classes and --hierarchy are for a CSV file of Open Images.")
    if not is_coco and not classes:
        raise WrongOptions("A CSV file of boxes has no names: add --classes.")
    if classes:
        images, excluded = open_images(boxes, classes), excluded_classes()
    else:
        images, excluded = instances(boxes)
    relations = read_hierarchy(hierarchy).relations if hierarchy else []
    return constraints(
        images,
        levels_of=levels((relation.parent, relation.child) for relation in relations),
        excluded=excluded,
        info={"file": boxes.name},
        out=out,
    )


def open_images(path: Path, classes: Path) -> Iterator[ImageBoxes]:
    """The boxes of each image in a file of boxes or detections; raises MalformedFile."""
    with open_csv(classes) as table:
        names = dict(read_classes(table))
    with bytes_shown(path) as progress:
        candidates = read_detections(path, names, progress)
    return (ImageBoxes({"open_images_id": key}, boxes) for key, boxes in candidates.items())


def instances(path: Path) -> tuple[Iterator[ImageBoxes], dict[str, str]]:
    """The boxes of each image in an instances file, and its categories that are left out; raises
    MalformedFile."""
    content = read_instances(path)
    boxes: dict[str, list[Candidate]] = defaultdict(list)
    for box in content.boxes:
        edges = (box.x_min, box.x_max, box.y_min, box.y_max)
        boxes[box.image].append(Candidate(box.label, content.classes[box.label], *edges))
    images = (ImageBoxes({"image_id": int(key)}, boxes[key]) for key in content.images)
    return images, excluded_by_name(content.classes)


def constraints(
    images: Iterable[ImageBoxes],
    *,
    levels_of: Mapping[str, int],
    excluded: Collection[str],
    info: Mapping[str, Any],
    out: Path | None,
) -> Iterator[str]:
    """Write constraints.json, and yield its path, or its content if `out` is None."""
    content = {
        "info": {
            **info,
            "overlap": OVERLAP,
            "most": MOST,
            "excluded_classes": sorted(excluded),
        },
        "images": [
            {
                **image.ids,
                "constraints": [
                    constraint(box) for box in choose_constraints(image.boxes, levels_of, excluded)
                ],
            }
            for image in images
        ],
    }
    text = json.dumps(content, ensure_ascii=False)
    if out is None:
        yield text
        return
    path = out / "constraints.json"
    write(path, f"{text}\n")
    yield str(path)


def constraint(box: Candidate) -> dict[str, Any]:
    return {
        "class": box.label,
        "name": box.name,
        "words": word_forms(box.name),
        "confidence": box.confidence,
        "fractions": [box.x_min, box.y_min, box.x_max, box.y_max],
    }
