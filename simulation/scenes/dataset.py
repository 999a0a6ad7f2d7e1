"""Write generated scenes as a dataset: the files of Open Images (V7) with the scenes'
classes, and JPEG images.
"""

import csv
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from corpora.datasets.openimages import BOX_COLUMNS
from simulation.scenes.scene import Box, Scene, draw_scene

# Names and labels as in Open Images V4; V7 renamed a few ("Ball (Object)").
LABELS = {
    "Airplane": "/m/0cmf2",
    "Apple": "/m/014j1m",
    "Ball": "/m/018xm",
    "Balloon": "/m/01j51",
    "Banana": "/m/09qck",
    "Bench": "/m/0cvnqh",
    "Bicycle": "/m/0199g",
    "Bicycle wheel": "/m/01bqk0",
    "Bird": "/m/015p6",
    "Boat": "/m/019jd",
    "Book": "/m/0bt_c3",
    "Boy": "/m/01bl7v",
    "Building": "/m/0cgh4",
    "Bus": "/m/01bjv",
    "Butterfly": "/m/0cyf8",
    "Cake": "/m/0fszt",
    "Candle": "/m/0c06p",
    "Car": "/m/0k4j",
    "Cat": "/m/01yrx",
    "Clock": "/m/01x3z",
    "Couch": "/m/02crq1",
    "Dog": "/m/0bt9lr",
    "Door": "/m/02dgv",
    "Flower": "/m/0c9ph5",
    "Girl": "/m/05r655",
    "Guitar": "/m/0342h",
    "House": "/m/03jm5",
    "Houseplant": "/m/03fp41",
    "Human face": "/m/0dzct",
    "Human hair": "/m/03q69",
    "Kite": "/m/02zt3",
    "Lamp": "/m/0dtln",
    "Lighthouse": "/m/04h7h",
    "Man": "/m/04yx4",
    "Mug": "/m/02jvh9",
    "Orange": "/m/0cyhj_",
    "Palm tree": "/m/0cdl1",
    "Picture frame": "/m/06z37_",
    "Plate": "/m/050gv4",
    "Sheep": "/m/07bgp",
    "Snowman": "/m/0152hh",
    "Street light": "/m/033rq4",
    "Television": "/m/07c52",
    "Tent": "/m/01j61q",
    "Traffic light": "/m/015qff",
    "Tree": "/m/07j7r",
    "Umbrella": "/m/0hnnb",
    "Vase": "/m/02s195",
    "Vehicle registration plate": "/m/01jfm_",
    "Wheel": "/m/083wq",
    "Window": "/m/0d4v4",
    "Woman": "/m/03bt1vf",
}
ROOT = "/m/0bl9f"

# Parts of these classes in the real hierarchy. The parts of Building are not hidden from workers
# (see corpora.selection.priming).
PARTS = {
    "Man": ("Human face", "Human hair"),
    "Woman": ("Human face", "Human hair"),
    "Boy": ("Human face", "Human hair"),
    "Girl": ("Human face", "Human hair"),
    "Car": ("Wheel", "Vehicle registration plate"),
    "Bus": ("Wheel", "Vehicle registration plate"),
    "Bicycle": ("Bicycle wheel",),
}
UNDER_BUILDING = ("House", "Lighthouse")
PARTS_OF_BUILDING = ("Window", "Door", "Television", "Guitar")
HIDDEN = frozenset(part for parts in PARTS.values() for part in parts)


def hierarchy() -> dict[str, object]:
    """The hierarchy in the format of the official JSON file."""
    beneath = HIDDEN | {*UNDER_BUILDING, *PARTS_OF_BUILDING, "Building"}
    top = [_node(name) for name in LABELS if name not in beneath]
    building = {
        "LabelName": LABELS["Building"],
        "Subcategory": [_node(name) for name in UNDER_BUILDING],
        "Part": [_node(name) for name in PARTS_OF_BUILDING],
    }
    return {"LabelName": ROOT, "Subcategory": [*top, building]}


def _node(name: str) -> dict[str, object]:
    node: dict[str, object] = {"LabelName": LABELS[name]}
    if name in PARTS:
        node["Part"] = [{"LabelName": LABELS[part]} for part in PARTS[name]]
    return node


# The header lines of Open Images, V4 to V6.
IMAGE_HEADER = [
    "ImageID", "Subset", "OriginalURL", "OriginalLandingURL", "License", "AuthorProfileURL",
    "Author", "Title", "OriginalSize", "OriginalMD5", "Thumbnail300KURL", "Rotation",
]  # fmt: skip
BOX_HEADER = ["ImageID", "Source", *BOX_COLUMNS[1:]]
LICENSE = "https://creativecommons.org/publicdomain/zero/1.0/"
# One in this many images is rotated, or has an unknown rotation. Selections exclude these.
TURNED_EVERY, UNKNOWN_EVERY = 19, 23
# The degrees anticlockwise that make a `lying` scene upright again, which Open Images states
# (openimages/web/2018-05-17-rotation-information.html).
ON_ITS_SIDE = "270"


class Dataset:
    """Paths of the files of a dataset."""

    def __init__(self, folder: Path) -> None:
        self.classes = folder / "class-descriptions-boxable.csv"
        self.hierarchy = folder / "hierarchy.json"
        self.images = folder / "images.csv"
        self.boxes = folder / "boxes.csv"
        self.files = folder / "images"


def draw_dataset(dataset: Dataset, *, count: int, seed: int, split: str) -> Iterator[int]:
    """Draw `count` scenes into the dataset's folder; yield the number of boxes of each.

    The same seed gives the same files.
    """
    dataset.files.mkdir(parents=True, exist_ok=True)
    dataset.hierarchy.write_text(json.dumps(hierarchy(), indent=2) + "\n", encoding="utf-8")
    classes = [[label, name] for name, label in sorted(LABELS.items())]
    _write(dataset.classes, ["LabelName", "DisplayName"], classes)
    images, boxes = [], []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        key, rotation = f"{rng.getrandbits(64):016x}", _rotation(number)
        scene = draw_scene(rng)
        if rotation == ON_ITS_SIDE:
            scene = lying(scene)
        scene.image.save(dataset.files / f"{key}.jpg", quality=90)
        title = f"Drawn scene {number + 1}: {scene.setting}"
        size = (dataset.files / f"{key}.jpg").stat().st_size
        images.append([key, split, "", "", LICENSE, "", "", title, size, "", "", rotation])
        boxes += [_box_row(key, box) for box in scene.boxes]
        yield len(scene.boxes)
    _write(dataset.images, IMAGE_HEADER, images)
    _write(dataset.boxes, BOX_HEADER, boxes)


def lying(scene: Scene) -> Scene:
    """The scene rotated by 90 degrees anticlockwise, with its boxes."""
    boxes = [
        replace(box, left=box.top, right=box.bottom, top=1 - box.right, bottom=1 - box.left)
        for box in scene.boxes
    ]
    return replace(scene, image=scene.image.rotate(90, expand=True), boxes=boxes)


def _rotation(number: int) -> str:
    if (number + 1) % TURNED_EVERY == 0:
        return ON_ITS_SIDE
    return "" if (number + 1) % UNKNOWN_EVERY == 0 else "0"


def _box_row(key: str, box: Box) -> list[object]:
    edges = [f"{edge:.6f}" for edge in (box.left, box.right, box.top, box.bottom)]
    flags = [int(box.is_occluded), 0, int(box.is_group), 1, 0]
    return [key, "drawn", LABELS[box.name], 1, *edges, *flags]


def _write(path: Path, header: list[str], rows: list[list[object]] | list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
