"""Bring a data set's files into the tables: one transaction a file, repeatable."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db import connection, transaction

from annotate.datasets import coco, openimages
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
from annotate.reading.blocks import open_blocks
from annotate.reading.files import MalformedFile, Progress, no_progress, short
from annotate.reading.tables import open_csv
from annotate.services.bulk import Counts, Target, load, load_columns, take_turns

# What an address is written in; a question mark would end its path.
UNQUOTED = re.compile(r"[A-Za-z0-9\-._~:/@!$&'()*+,;=%\[\]]*")
LONGEST_BASE = 400
SPLIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
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
SIZE = ["width", "height"]
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

# A row of a box file, packed or not.
BOX_BYTES = 50
# Keys of a row that is there are checked anew in a twelfth of the time that a row takes which comes
# in with its keys in place.
REBUILT_FOR_ONE_NEW = 10

COCO_IMAGES = Target(
    Image,
    [
        "key",
        "width",
        "height",
        "url",
        "landing_url",
        "license_url",
        "source",
        "split",
        "rotation",
        "author",
        "author_url",
        "title",
        "file",
    ],
    ["source", "key"],
    kept=["author", "author_url", "title", "file"],
)
COCO_BOXES = Target(
    Box,
    ["image", "object_class", *EDGES, "is_group", "confidence"],
    ["image", "object_class", *EDGES],
)


@transaction.atomic
def import_classes(*, path: Path, progress: Progress = no_progress) -> Counts:
    """Take in class descriptions; a name that changed is changed. Raises MalformedFile."""
    take_turns()
    with open_csv(path, progress) as file:
        classes = list(openimages.read_classes(file))
    return _counted(CLASSES, classes)


@transaction.atomic
def import_hierarchy(*, path: Path) -> Counts:
    """Add the edges of a hierarchy file to the graph of classes; raises MalformedFile."""
    take_turns()
    hierarchy = openimages.read_hierarchy(path)
    ObjectClass.objects.get_or_create(label=hierarchy.root, defaults={"name": openimages.ROOT_NAME})
    numbers = dict(ObjectClass.objects.values_list("label", "pk"))
    for relation in hierarchy.relations:
        if relation.child not in numbers:
            raise MalformedFile(
                path, f"class {relation.child} is not known; import the class descriptions first"
            )
    rows = [(numbers[parent], numbers[child], kind) for parent, child, kind in hierarchy.relations]
    return _counted(RELATIONS, rows)


@transaction.atomic
def import_images(
    *, path: Path, split: str, base_url: str = "", progress: Progress = no_progress
) -> Counts:
    """Take in image metadata as a split's; raises MalformedFile.

    With a base URL the images are fetched from there, by key, and not from their authors' host.
    """
    _check_split(split)
    prefix = _prefix(base_url)
    take_turns()
    elsewhere = _splits_of_others(ImageSource.OPEN_IMAGES, split)
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
                if prefix:
                    record = record._replace(url=f"{prefix}{record.key}.jpg")
                yield (*record, ImageSource.OPEN_IMAGES.value, split, "")

    new, changed = load(IMAGES, rows)
    return Counts(len(read), new, changed)


def import_boxes(
    *,
    path: Path,
    split: str,
    require_images: bool = False,
    progress: Progress = no_progress,
) -> Counts:
    """Take in the boxes of a split's images; raises MalformedFile. Boxes of other images are
    counted and passed over, as a box file covers its whole split and the metadata may be of a
    part of it; with `require_images` they are an error."""
    # SQLite need not look up image and class of each row: their numbers are read in the
    # transaction that writes the boxes, and it is the only one that writes.
    with connection.constraint_checks_disabled(), transaction.atomic():
        return _import_boxes(path, split, require_images, progress)


def _import_boxes(path: Path, split: str, require_images: bool, progress: Progress) -> Counts:
    take_turns()
    images = _image_numbers(ImageSource.OPEN_IMAGES, split)
    if not images:
        raise DomainError(
            f"The split {split!r} has no images; import their metadata with --images first."
        )
    classes = dict(ObjectClass.objects.values_list("label", "pk"))
    reader = openimages.BoxReader(images, classes, require_images=require_images)

    def blocks() -> Iterator[openimages.BoxColumns]:
        with open_blocks(path, progress) as file:
            yield from reader.read(file)

    new, changed = load_columns(BOXES, blocks, into_new_ground=_nobody_minds(split, path))
    return Counts(reader.rows_read, new, changed, reader.skipped)


def _nobody_minds(split: str, path: Path) -> bool:
    """Whether a split's first boxes may come in with the table closed to readers meanwhile, and do
    so sooner: the keys of all boxes, of other splits as well, are then checked anew."""
    size = path.stat().st_size if path.exists() else 0
    return not (
        Box.objects.filter(image__source=ImageSource.OPEN_IMAGES, image__split=split).exists()
        or Campaign.objects.filter(status=CampaignStatus.RUNNING).exists()
        or Box.objects.count() > size / BOX_BYTES * REBUILT_FOR_ONE_NEW
    )


class CocoCounts(NamedTuple):
    """What an import did with each list of a COCO file."""

    classes: Counts
    images: Counts
    boxes: Counts


@transaction.atomic
def import_coco(*, path: Path, split: str) -> CocoCounts:
    """Take in a COCO instances file as a split; raises MalformedFile."""
    _check_split(split)
    take_turns()
    content = coco.read_instances(path)
    elsewhere = _splits_of_others(ImageSource.COCO, split)
    if moved := next((key for key in content.images if key in elsewhere), None):
        raise MalformedFile(
            path, f"image {moved} belongs to the split {elsewhere[moved]!r} already"
        )
    classes = _counted(CLASSES, list(content.classes.items()))
    # COCO's images stand upright, and it names no authors.
    rest = (ImageSource.COCO.value, split, 0, "", "", "", "")
    sizes = _sizes_of_files(ImageSource.COCO, split)
    images = _counted(
        COCO_IMAGES,
        [
            (image.key, *sizes.get(image.key, (image.width, image.height)), *image[3:], *rest)
            for image in content.images.values()
        ],
    )
    image_numbers = _image_numbers(ImageSource.COCO, split)
    class_numbers = dict(
        ObjectClass.objects.filter(label__in=content.classes).values_list("label", "pk")
    )
    boxes = [
        (image_numbers[key], class_numbers[label], *edges, int(is_group), 1.0)
        for key, label, *edges, is_group in content.boxes
    ]
    return CocoCounts(classes, images, _counted(COCO_BOXES, boxes))


def _check_split(split: str) -> None:
    """Refuse a name that cannot be a folder's; image files are kept in one by that name."""
    if not SPLIT_NAME.fullmatch(split):
        raise DomainError(
            f"{split!r} cannot be the name of a split: take up to 64 letters, digits, dots, "
            "hyphens and underscores, and a letter or digit first."
        )


def _prefix(url: str) -> str:
    """What comes before an image's key in its address; empty without a base URL. Raises DomainError
    for an address that pages must not show images from."""
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
        # A wrong port is found when it is read.
        is_path = not parts.scheme and not parts.netloc and parts.path.startswith("/")
        is_fit = (is_web and parts.port != 0) or is_path or not url
    except ValueError:
        is_fit = False
    if not is_fit or not UNQUOTED.fullmatch(url) or len(url) > LONGEST_BASE:
        raise DomainError(
            f"--base-url {short(url)} is not an address that images can be shown from: give one "
            "that begins with https:// or http://, or with / for a path of this site, without a "
            "? or #, of at most 400 characters."
        )
    return url and f"{url.rstrip('/')}/"


def _counted(target: Target, rows: list[tuple[Any, ...]]) -> Counts:
    new, changed = load(target, lambda: iter(rows))
    return Counts(len(rows), new, changed)


def _splits_of_others(source: ImageSource, split: str) -> dict[str, str]:
    """The split of each image that is not in this one: an image never moves, since selections and
    campaigns may hold it."""
    others = Image.objects.filter(source=source).exclude(split=split)
    return dict(others.values_list("key", "split"))


def _sizes_of_files(source: ImageSource, split: str) -> dict[str, tuple[int | None, int | None]]:
    """The size of each image that has a file here, as the file is shown: a data set may state it
    from before a camera's note of which side is up."""
    with_file = Image.objects.filter(source=source, split=split).exclude(file="")
    return {key: (width, height) for key, width, height in with_file.values_list("key", *SIZE)}


def _image_numbers(source: ImageSource, split: str) -> dict[str, int]:
    return dict(Image.objects.filter(source=source, split=split).values_list("key", "pk"))
