"""Checks of a release of word–box links: its files and the correctness of its links."""

import csv
import filecmp
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annotate.content_selection.files import read_gold
from annotate.content_selection.metric import human_upper_bound
from annotate.kinds.correspondence.export import write_correspondences
from annotate.models import Release
from simulation.checks.check import Check
from simulation.kinds.correspondence import KINDS, true_meanings
from simulation.scenes.classes import HIDDEN, LABELS
from simulation.scenes.dataset import Dataset

LEAST_RIGHT = 0.97
# A box as it was drawn: image id, class name, and edges as written in the dataset.
DrawnBox = tuple[str, str, tuple[str, ...]]
# A word and a box that it refers to: caption id, word number, box.
Link = tuple[int, int, DrawnBox]


def check_links(folder: Path, release: Release, dataset: Dataset) -> list[Check]:
    """Check completeness, correctness and reproducibility of the links and their files."""
    captions = _read(folder / "correspondences.json")["captions"]
    return [
        _complete(captions, release),
        _right(captions, _read(folder / "boxes.json")["boxes"], dataset),
        _same_again(folder, release),
        _readable(folder),
    ]


def _complete(captions: list[dict[str, Any]], release: Release) -> Check:
    wanted, tasks = release.campaign.config.wanted, release.campaign.tasks.count()
    complete = [
        row["id"] for row in captions if len({each["worker"] for each in row["answers"]}) == wanted
    ]
    return Check(
        len(complete) == tasks == len(captions),
        f"each caption has {wanted} answers by different workers",
        f"{len(complete)} of {tasks} captions",
    )


def _right(captions: list[dict[str, Any]], boxes: dict[str, Any], dataset: Dataset) -> Check:
    """Compare the released links with the true ones."""
    drawn = drawn_boxes(dataset)
    true = {link for row in captions for link in true_links(row, drawn[row["image_id"]])}
    found = {link for row in captions for link in released_links(row, boxes)}
    right = len(true & found)
    return Check(
        right >= LEAST_RIGHT * max(len(true), len(found)),
        f"at least {LEAST_RIGHT:.0%} of the links are those of the drawn scenes",
        f"{right / max(1, len(found)):.1%} of the {len(found)} that hold are true, and "
        f"{right / max(1, len(true)):.1%} of the {len(true)} true ones are among them",
    )


def drawn_boxes(dataset: Dataset) -> dict[str, list[DrawnBox]]:
    """The boxes drawn in each image, by image id, without parts."""
    names = {label: name for name, label in LABELS.items()}
    boxes: dict[str, list[DrawnBox]] = defaultdict(list)
    with dataset.boxes.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            image, name = row["ImageID"], names[row["LabelName"]]
            if name not in HIDDEN:
                edges = (row["XMin"], row["YMin"], row["XMax"], row["YMax"])
                boxes[image].append((image, name, edges))
    return boxes


def true_links(row: dict[str, Any], drawn: list[DrawnBox]) -> Iterator[Link]:
    """The true links of a released caption, according to the boxes drawn in its image."""
    boxes = {str(number): box for number, box in enumerate(drawn)}
    classes = {number: name for number, (_, name, _) in boxes.items()}
    for word, meaning in true_meanings(row["caption"], classes, set(LABELS) - HIDDEN).items():
        if meaning not in KINDS:
            yield from ((row["id"], word, boxes[number]) for number in meaning)


def released_links(row: dict[str, Any], boxes: dict[str, Any]) -> Iterator[Link]:
    """The links of a released caption in the exported files."""
    for word, links in row["links"].items():
        for link in links:
            box = boxes[link["box"]]
            edges = tuple(f"{edge:.6f}" for edge in box["fractions"])
            yield row["id"], int(word), (box["image_id"], box["label"], edges)


def _same_again(folder: Path, release: Release) -> Check:
    """Check that a second export gives the same bytes."""
    with TemporaryDirectory() as again:
        paths = write_correspondences(release, Path(again))
        files = [
            path.relative_to(again)
            for top in paths
            for path in (top.iterdir() if top.is_dir() else [top])
        ]
        same, different, missing = filecmp.cmpfiles(folder, again, map(str, files), shallow=False)
    return Check(
        not different and not missing,
        "a second export of the links gives the same bytes",
        f"{len(same)} of {len(files)} files",
    )


def _readable(folder: Path) -> Check:
    gold = read_gold(folder / "gold.json")
    bound = human_upper_bound(gold)
    return Check(
        bound is not None and bound.mean.f > 0,
        "content selection reads the boxes that the captions mention",
        f"{len(gold)} images"
        + (
            f", a caption against the others P {bound.mean.precision:.2f}, "
            f"R {bound.mean.recall:.2f}, F {bound.mean.f:.2f}"
            if bound
            else ""
        ),
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
