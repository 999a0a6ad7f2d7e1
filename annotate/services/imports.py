"""Bring a data set's files into the tables: one transaction a file, repeatable."""

from collections.abc import Iterator
from pathlib import Path

from django.db import transaction

from annotate import openimages
from annotate.csv_files import MalformedFile, Progress, no_progress, open_csv
from annotate.errors import DomainError
from annotate.models import (
    Box,
    Campaign,
    CampaignStatus,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
)
from annotate.services.bulk import Counts, Target, load

CLASSES = Target(ObjectClass, ["label", "name"], ["label"])
RELATIONS = Target(ClassRelation, ["parent", "child", "kind"], ["parent", "child", "kind"])
IMAGES = Target(
    Image,
    [
        "key",
        "rotation",
        "url",
        "landing_url",
        "author",
        "author_url",
        "license_url",
        "title",
        "source",
        "split",
        "file",
    ],
    ["source", "key"],
    kept=["file"],
)
EDGES = ["x_min", "x_max", "y_min", "y_max"]
BOXES = Target(
    Box,
    [
        "image",
        "object_class",
        "confidence",
        *EDGES,
        "is_occluded",
        "is_truncated",
        "is_group",
        "is_depiction",
        "is_inside",
    ],
    ["image", "object_class", *EDGES],
)


@transaction.atomic
def import_classes(*, path: Path, progress: Progress = no_progress) -> Counts:
    """Take in class descriptions; a name that changed is changed. Raises MalformedFile."""
    with open_csv(path, progress) as file:
        classes = list(openimages.read_classes(file))
    new, changed = load(CLASSES, lambda: iter(classes))
    return Counts(len(classes), new, changed)


@transaction.atomic
def import_hierarchy(*, path: Path) -> Counts:
    """Add the edges of a hierarchy file to the graph of classes; raises MalformedFile."""
    hierarchy = openimages.read_hierarchy(path)
    ObjectClass.objects.get_or_create(label=hierarchy.root, defaults={"name": openimages.ROOT_NAME})
    numbers = dict(ObjectClass.objects.values_list("label", "pk"))
    for relation in hierarchy.relations:
        if relation.child not in numbers:
            raise MalformedFile(
                path, f"class {relation.child} is not known; import the class descriptions first"
            )
    rows = [(numbers[parent], numbers[child], kind) for parent, child, kind in hierarchy.relations]
    new, changed = load(RELATIONS, lambda: iter(rows))
    return Counts(len(rows), new, changed)


@transaction.atomic
def import_images(
    *, path: Path, split: str, base_url: str = "", progress: Progress = no_progress
) -> Counts:
    """Take in image metadata as a split's; raises MalformedFile.

    With a base URL the images are fetched from there, by key, and not from their authors' host.
    """
    elsewhere = dict(
        Image.objects.filter(source=ImageSource.OPEN_IMAGES)
        .exclude(split=split)
        .values_list("key", "split")
    )
    read: list[str] = []

    def rows() -> Iterator[tuple[object, ...]]:
        read.clear()
        with open_csv(path, progress) as file:
            for record in openimages.read_images(file):
                read.append(record.key)
                if record.key in elsewhere:
                    raise file.wrong(
                        f"image {record.key} belongs to the split {elsewhere[record.key]!r} already"
                    )
                if base_url:
                    record = record._replace(url=f"{base_url.rstrip('/')}/{record.key}.jpg")
                yield (*record, ImageSource.OPEN_IMAGES.value, split, "")

    new, changed = load(IMAGES, rows)
    return Counts(len(read), new, changed)


@transaction.atomic
def import_boxes(
    *,
    path: Path,
    split: str,
    skip_unknown_images: bool = False,
    progress: Progress = no_progress,
) -> Counts:
    """Take in the boxes of a split's images; raises MalformedFile."""
    images = dict(
        Image.objects.filter(source=ImageSource.OPEN_IMAGES, split=split).values_list("key", "pk")
    )
    if not images:
        raise DomainError(
            f"The split {split!r} has no images; import their metadata with --images first."
        )
    reader = openimages.BoxReader(
        images,
        dict(ObjectClass.objects.values_list("label", "pk")),
        skip_unknown_images=skip_unknown_images,
    )

    def rows() -> Iterator[openimages.BoxRow]:
        with open_csv(path, progress) as file:
            yield from reader.read(file)

    new, changed = load(BOXES, rows, into_new_ground=_nobody_minds(split))
    return Counts(reader.rows_read, new, changed, reader.skipped)


def _nobody_minds(split: str) -> bool:
    """Whether a split's first boxes may come in with the table closed to readers meanwhile."""
    return not (
        Box.objects.filter(image__source=ImageSource.OPEN_IMAGES, image__split=split).exists()
        or Campaign.objects.filter(status=CampaignStatus.RUNNING).exists()
    )
