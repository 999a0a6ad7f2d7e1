"""Write generated scenes as a dataset: the files of Open Images (V7), and JPEG images."""

import csv
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from simulation.scenes.classes import LABELS, hierarchy
from simulation.scenes.scene import Box, Scene, draw_scene

# fmt: off
IMAGE_COLUMNS = [
    "ImageID", "Subset", "OriginalURL", "OriginalLandingURL", "License", "AuthorProfileURL",
    "Author", "Title", "OriginalSize", "OriginalMD5", "Thumbnail300KURL", "Rotation",
]
BOX_COLUMNS = [
    "ImageID", "Source", "LabelName", "Confidence", "XMin", "XMax", "YMin", "YMax",
    "IsOccluded", "IsTruncated", "IsGroupOf", "IsDepiction", "IsInside",
]
# fmt: on
LICENSE = "https://creativecommons.org/publicdomain/zero/1.0/"
# One in this many images is rotated, or has an unknown rotation. Selections exclude these.
TURNED_EVERY, UNKNOWN_EVERY = 19, 23


@dataclass(frozen=True)
class Dataset:
    """Paths of the files of a dataset."""

    folder: Path

    @property
    def classes(self) -> Path:
        return self.folder / "class-descriptions-boxable.csv"

    @property
    def hierarchy(self) -> Path:
        return self.folder / "hierarchy.json"

    @property
    def images(self) -> Path:
        return self.folder / "images.csv"

    @property
    def boxes(self) -> Path:
        return self.folder / "boxes.csv"

    @property
    def files(self) -> Path:
        return self.folder / "images"


def draw_dataset(dataset: Dataset, *, count: int, seed: int, split: str) -> Iterator[int]:
    """Draw `count` scenes into the dataset's folder; yield the number of boxes of each.

    The same seed gives the same files.
    """
    dataset.files.mkdir(parents=True, exist_ok=True)
    dataset.hierarchy.write_text(json.dumps(hierarchy(), indent=2) + "\n", encoding="utf-8")
    _write(dataset.classes, ["LabelName", "DisplayName"], _class_rows())
    images, boxes = [], []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        key, rotation = f"{rng.getrandbits(64):016x}", _rotation(number)
        scene = draw_scene(rng)
        if rotation == "90":
            scene = lying(scene)
        scene.image.save(dataset.files / f"{key}.jpg", quality=90)
        title = f"Drawn scene {number + 1}: {scene.setting}"
        size = (dataset.files / f"{key}.jpg").stat().st_size
        images.append([key, split, "", "", LICENSE, "", "", title, size, "", "", rotation])
        boxes += [_box_row(key, box) for box in scene.boxes]
        yield len(scene.boxes)
    _write(dataset.images, IMAGE_COLUMNS, images)
    _write(dataset.boxes, BOX_COLUMNS, boxes)


def lying(scene: Scene) -> Scene:
    """The scene rotated by 90 degrees anticlockwise, with its boxes."""
    boxes = [
        replace(box, left=box.top, right=box.bottom, top=1 - box.right, bottom=1 - box.left)
        for box in scene.boxes
    ]
    return replace(scene, image=scene.image.rotate(90, expand=True), boxes=boxes)


def _rotation(number: int) -> str:
    if (number + 1) % TURNED_EVERY == 0:
        return "90"
    return "" if (number + 1) % UNKNOWN_EVERY == 0 else "0"


def _class_rows() -> list[list[str]]:
    return [[label, name] for name, label in sorted(LABELS.items())]


def _box_row(key: str, box: Box) -> list[object]:
    edges = [f"{edge:.6f}" for edge in (box.left, box.right, box.top, box.bottom)]
    flags = [int(box.is_occluded), 0, int(box.is_group), 1, 0]
    return [key, "drawn", LABELS[box.name], 1, *edges, *flags]


def _write(path: Path, header: list[str], rows: list[list[object]] | list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
