"""Generated files in the format of Open Images, of any size, from a seed."""

import csv
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER

CLASSES = 600
# The numbers of the validation and test files together: 303,980 and 937,327 rows.
REAL_BOXES = 1_241_307
BOXES_PER_IMAGE = 7.4


class Files(NamedTuple):
    classes: Path
    images: Path
    boxes: Path


def write_files(folder: Path, *, boxes: int, seed: int = 1) -> Files:
    """Write class descriptions, image metadata and this many boxes, in the order of the images."""
    generator = random.Random(seed)
    labels = [f"/m/0{number:05}" for number in range(CLASSES)]
    images = round(boxes / BOXES_PER_IMAGE)
    keys = sorted(f"{generator.getrandbits(64):016x}" for _ in range(images))
    files = Files(folder / "classes.csv", folder / "images.csv", folder / "boxes.csv")
    _write(files.classes, [], ([label, f"Class {label[4:]}"] for label in labels))
    _write(files.images, IMAGE_HEADER, map(_image_row, keys))
    _write(files.boxes, BOX_HEADER, _box_rows(generator, keys, labels, boxes))
    return files


def _write(path: Path, header: list[str], rows: Iterable[list[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        if header:
            writer.writerow(header)
        writer.writerows(rows)


def _image_row(key: str) -> list[Any]:
    photo = int(key, 16) % 10**10
    return [
        key,
        "validation",
        f"https://farm4.photos.example/8524/{photo}_{key[:10]}_o.jpg",
        f"https://www.photos.example/photos/{photo % 10**8}/{photo}",
        "https://creativecommons.org/licenses/by/2.0/",
        f"https://www.photos.example/people/{photo % 10**8}/",
        f"Photographer {photo % 10**8}",
        f"IMG_{photo % 10**4}",
        photo % 10**7,
        f"{key}Jz5kUQ==",
        f"https://c5.photos.example/9/8524/{photo}_{key[:10]}_z.jpg",
        0,
    ]


def _box_rows(
    generator: random.Random, keys: list[str], labels: list[str], boxes: int
) -> Iterator[list[Any]]:
    """Boxes image by image. A few classes are common and most are rare, as in the real files."""
    places = sorted(generator.randrange(len(keys)) for _ in range(boxes))
    for place in places:
        left, right = sorted((generator.random(), generator.random()))
        top, bottom = sorted((generator.random(), generator.random()))
        edges = [f"{edge:.6f}" for edge in (left, right, top, bottom)]
        flags = [generator.getrandbits(1) for _ in range(5)]
        label = labels[int(len(labels) * generator.random() ** 3)]
        yield [keys[place], "xclick", label, 1, *edges, *flags]
