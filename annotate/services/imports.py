"""Import the files of a dataset. Each import is one transaction and can be repeated.

Imported rows belong to `team`; without a team, all teams share them. An import reads and writes
rows of this owner alone, except that a team's boxes can have shared classes. It changes nothing
that a published campaign shows, unless `change_published` says so, and raises IsPublished.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db import connection, transaction
from django.db.models import F, OuterRef, QuerySet, Subquery

from accounts.models import Team
from annotate.models import (
    Box,
    Campaign,
    CampaignStatus,
    ClassName,
    ClassRelation,
    Image,
    ImageSource,
    ObjectClass,
)
from annotate.services.bulk import Counts, Target, load, load_columns, take_turns
from annotate.services.class_names import take_names
from annotate.services.published import published_kept
from annotate.services.selections import recount_all_pools, recount_pools
from corpora.datasets import coco, openimages
from corpora.errors import DomainError
from corpora.reading.blocks import open_blocks
from corpora.reading.files import MalformedFile, Progress, is_file, no_progress, short
from corpora.reading.tables import open_csv

# Characters of a base URL. A question mark would end the path of each image's address.
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

# Bytes per row of a box file, compressed or not, to estimate the number of rows.
BOX_BYTES = 50
# Checking the keys of an existing row again takes a twelfth of the time that writing a new row with
# its keys in place takes.
REBUILT_FOR_ONE_NEW = 10

COCO_IMAGES = Target(
    Image,
    [
        "key",
        "width",
        "height",
        "file_name",
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
def import_classes(
    *,
    path: Path,
    team: Team | None = None,
    change_published: bool = False,
    progress: Progress = no_progress,
) -> Counts:
    """Import class descriptions; changed names are updated. Raises MalformedFile."""
    take_turns()
    with open_csv(path, progress) as file:
        classes = list(openimages.read_classes(file))
    with published_kept(_images_with_classes_of(team), change_published=change_published):
        counts = _load_classes(classes, team)
    return counts


def _load_classes(classes: list[tuple[Any, ...]], team: Team | None) -> Counts:
    counts = _counted(CLASSES.owned_by(team), [(_key(team), *row) for row in classes])
    if counts.new:
        take_names(ObjectClass.objects.filter(team=team))
    moved = _take_own_classes(team) if team and counts.new else 0
    if counts.changed or moved:
        recount_all_pools(team)
    return counts


def _take_own_classes(team: Team) -> int:
    """Give the team's boxes its own classes in place of the shared ones of the same labels, as
    later imports do, which would else store each box once more. Returns the number of boxes.

    Only of Open Images: two files in COCO's form may give one number to different classes.
    """
    own, shared = (ObjectClass.objects.filter(team=owner) for owner in (team, None))
    boxes = Box.objects.filter(
        image__team=team,
        image__source=ImageSource.OPEN_IMAGES,
        object_class__in=shared.filter(label__in=own.values("label")),
    )
    label = ObjectClass.objects.filter(pk=OuterRef(OuterRef("object_class_id"))).values("label")
    return boxes.update(object_class=Subquery(own.filter(label__in=label).values("pk")[:1]))


@transaction.atomic
def import_hierarchy(
    *, path: Path, team: Team | None = None, change_published: bool = False
) -> Counts:
    """Add the relations in a hierarchy file to the graph of the owner's classes; raises
    MalformedFile."""
    take_turns()
    hierarchy = openimages.read_hierarchy(path)
    ObjectClass.objects.get_or_create(
        team=team, label=hierarchy.root, defaults={"name": openimages.ROOT_NAME}
    )
    numbers = dict(ObjectClass.objects.filter(team=team).values_list("label", "pk"))
    for relation in hierarchy.relations:
        if relation.child not in numbers:
            raise MalformedFile(
                path, f"unknown class {relation.child}; import the class descriptions first"
            )
    rows = [(numbers[parent], numbers[child], kind) for parent, child, kind in hierarchy.relations]
    with published_kept(_images_with_classes_of(team), change_published=change_published):
        counts = _counted(RELATIONS, rows)
    if counts.new:
        recount_all_pools(team)
    return counts


@transaction.atomic
def import_images(
    *,
    path: Path,
    split: str,
    base_url: str = "",
    team: Team | None = None,
    change_published: bool = False,
    progress: Progress = no_progress,
) -> Counts:
    """Import image metadata into a split; raises MalformedFile.

    With `base_url`, images are loaded from `<base_url>/<key>.jpg` and not from their original URLs.
    Raises DomainError if the URL or the name of the split is invalid, or the split is another
    owner's.
    """
    check_split(split)
    prefix = _prefix(base_url)
    take_turns()
    check_owner(split, team)
    _check_no_own_files(split)
    elsewhere = _splits_of_others(ImageSource.OPEN_IMAGES, split, team)
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
                yield (_key(team), *record, ImageSource.OPEN_IMAGES.value, split, "")

    with published_kept(Image.objects.filter(split=split), change_published=change_published):
        new, changed = load(IMAGES.owned_by(team), rows)
    counts = Counts(len(read), new, changed)
    recount_pools(split, counts)
    return counts


def import_boxes(
    *,
    path: Path,
    split: str,
    require_images: bool = False,
    team: Team | None = None,
    change_published: bool = False,
    progress: Progress = no_progress,
) -> Counts:
    """Import the boxes of a split's images; raises MalformedFile.

    A box file covers its whole split, but the metadata may cover only a part of it. Boxes of
    unknown images are therefore counted and skipped. With `require_images` they are an error.
    """
    # SQLite does not need to check the foreign keys of each row: the keys are read in this
    # transaction, and no other transaction can write meanwhile.
    with connection.constraint_checks_disabled(), transaction.atomic():
        take_turns()
        check_owner(split, team)
        with published_kept(Image.objects.filter(split=split), change_published=change_published):
            return _import_boxes(path, split, require_images, team, progress)


def _import_boxes(
    path: Path, split: str, require_images: bool, team: Team | None, progress: Progress
) -> Counts:
    images = _image_numbers(ImageSource.OPEN_IMAGES, split)
    if not images:
        raise DomainError(
            f"The split {split!r} has no images. Import their metadata with --images first."
        )
    classes = _class_numbers(team)
    reader = openimages.BoxReader(images, classes, require_images=require_images)

    def blocks() -> Iterator[openimages.BoxColumns]:
        with open_blocks(path, progress) as file:
            yield from reader.read(file)

    new, changed = load_columns(BOXES, blocks, only_new=_may_lock_tables(split, path))
    counts = Counts(reader.rows_read, new, changed, reader.skipped)
    recount_pools(split, counts)
    return counts


def _may_lock_tables(split: str, path: Path) -> bool:
    """Whether to import with the table locked against readers, which is faster.

    Only for the first boxes of a split, while no campaign is running, and if the table is small
    enough: locking means checking the keys of all boxes again, those of other splits included.
    """
    size = path.stat().st_size if is_file(path) else 0
    return not (
        Box.objects.filter(image__source=ImageSource.OPEN_IMAGES, image__split=split).exists()
        or Campaign.objects.filter(status=CampaignStatus.RUNNING).exists()
        or Box.objects.count() > size / BOX_BYTES * REBUILT_FOR_ONE_NEW
    )


class CocoCounts(NamedTuple):
    """Results of importing a COCO file, one for each of its lists."""

    classes: Counts
    images: Counts
    boxes: Counts

    def in_words(self) -> list[str]:
        classes = self.classes.in_words("class", "classes")
        return [classes, self.images.in_words("image"), self.boxes.in_words("box", "boxes")]


@transaction.atomic
def import_coco(
    *, path: Path, split: str, team: Team | None = None, change_published: bool = False
) -> CocoCounts:
    """Import a COCO instances file as a split; raises MalformedFile and DomainError."""
    check_split(split)
    take_turns()
    check_owner(split, team)
    _check_no_own_files(split)
    content = coco.read_instances(path)
    with published_kept(_images_with_classes_of(team), change_published=change_published):
        return _import_coco(path, split, content, team)


def _import_coco(path: Path, split: str, content: coco.Instances, team: Team | None) -> CocoCounts:
    elsewhere = _splits_of_others(ImageSource.COCO, split, team)
    if moved := next((key for key in content.images if key in elsewhere), None):
        raise MalformedFile(
            path, f"image {moved} belongs to the split {elsewhere[moved]!r} already"
        )
    renamed = _renamed(path, split, content, team)
    # They are other classes than those whose names were imported.
    ClassName.objects.filter(object_class__in=renamed).delete()
    classes = _load_classes(list(content.classes.items()), team)
    # COCO's images need no rotation, and COCO names no authors.
    constants = (ImageSource.COCO.value, split, 0, "", "", "", "")
    sizes = _sizes_of_files(ImageSource.COCO, split)
    images = _counted(
        COCO_IMAGES.owned_by(team),
        [
            (
                _key(team),
                image.key,
                *sizes.get(image.key, (image.width, image.height)),
                *image[3:],
                *constants,
            )
            for image in content.images.values()
        ],
    )
    image_numbers = _image_numbers(ImageSource.COCO, split)
    class_numbers = _class_numbers(team)
    boxes = [
        (image_numbers[key], class_numbers[label], *edges, int(is_group), 1.0)
        for key, label, *edges, is_group in content.boxes
    ]
    counts = CocoCounts(classes, images, _counted(COCO_BOXES, boxes))
    recount_pools(split, *counts)
    return counts


def _renamed(path: Path, split: str, content: coco.Instances, team: Team | None) -> list[int]:
    """The primary keys of the classes that get another name, not only in another case. Raises
    MalformedFile if another split has boxes of a renamed one: files of two datasets often number
    their own categories from 1. Own photographs can have such boxes, too."""
    existing = ObjectClass.objects.filter(team=team, label__in=content.classes)
    renamed = {
        object_class.pk: object_class
        for object_class in existing
        if content.classes[object_class.label] != object_class.name
    }
    sources = (ImageSource.COCO, ImageSource.OWN)
    others = Box.objects.filter(object_class__in=renamed, image__source__in=sources)
    used = others.exclude(image__split=split).select_related("image").first() if renamed else None
    if used is not None:
        label, name = renamed[used.object_class_id].label, renamed[used.object_class_id].name
        raise MalformedFile(
            path,
            f"category {label.removeprefix('coco:')} is called {content.classes[label]!r}, and "
            f"{name!r} in the split {used.image.split!r}. Give one of them another id.",
        )
    return [
        pk
        for pk, before in renamed.items()
        if content.classes[before.label].casefold() != before.name.casefold()
    ]


def check_split(split: str) -> None:
    """Raise DomainError unless the name is valid as the name of a folder for image files."""
    if not SPLIT_NAME.fullmatch(split):
        raise DomainError(
            f"{split!r} cannot be the name of a split: use up to 64 letters, digits, dots, "
            "hyphens and underscores, and start with a letter or digit."
        )


def check_owner(split: str, team: Team | None) -> None:
    """Raise DomainError if the split has images of another owner. Of other teams it says nothing
    but that the name is taken."""
    others = Image.objects.filter(split=split).exclude(team=team).select_related("team")
    if (image := others.first()) is None:
        return
    if image.team is None:
        raise DomainError(
            f"All teams share the split {split!r}. Only an operator can import into it, for all "
            "teams. Choose another name."
        )
    if team is None:
        raise DomainError(
            f"The split {split!r} belongs to the team {image.team.slug}. Import into it for this "
            "team, or choose another name."
        )
    raise DomainError(f"The name {split!r} is taken. Choose another name for the split.")


def _check_no_own_files(split: str) -> None:
    """Raise DomainError if the split has own files: their names may be those of other images."""
    if Image.objects.filter(split=split, source=ImageSource.OWN).exists():
        raise DomainError(
            f"The split {split!r} has files of your own. Choose another name for the dataset."
        )


def _prefix(url: str) -> str:
    """The part of an image's URL before its key, or an empty text without a base URL.

    Raises DomainError for a URL from which pages must not show images.
    """
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
        # `parts.port` raises ValueError if the port is invalid.
        is_path = not parts.scheme and not parts.netloc and parts.path.startswith("/")
        is_fit = (is_web and parts.port != 0) or is_path or not url
    except ValueError:
        is_fit = False
    if not is_fit or not UNQUOTED.fullmatch(url) or len(url) > LONGEST_BASE:
        raise DomainError(
            f"--base-url {short(url)} is not a valid address for images: it must start with "
            "https:// or http://, or with / for a path on this site, contain no ? or #, and have "
            "at most 400 characters."
        )
    return url and f"{url.rstrip('/')}/"


def _counted(target: Target, rows: list[tuple[Any, ...]]) -> Counts:
    new, changed = load(target, lambda: iter(rows))
    return Counts(len(rows), new, changed)


def _key(team: Team | None) -> int | None:
    return team.pk if team else None


def _images_with_classes_of(team: Team | None) -> QuerySet[Image]:
    """The images whose boxes can have the owner's classes."""
    return Image.objects.filter(team=team) if team else Image.objects.all()


def _class_numbers(team: Team | None) -> dict[str, int]:
    """The classes that the owner's boxes have, by label: its own, and else the shared ones."""
    classes = ObjectClass.objects.of_team(team).order_by(F("team").asc(nulls_first=True))
    return dict(classes.values_list("label", "pk"))


def _splits_of_others(source: ImageSource, split: str, team: Team | None) -> dict[str, str]:
    """Keys of the owner's images in other splits, each with its split.

    An image never moves to another split, because selections and campaigns may contain it.
    """
    others = Image.objects.filter(team=team, source=source).exclude(split=split)
    return dict(others.values_list("key", "split"))


def _sizes_of_files(source: ImageSource, split: str) -> dict[str, tuple[int | None, int | None]]:
    """Sizes as shown, in pixels, of the images whose files are stored here, by image key.

    A dataset may state the size before the rotation that the camera recorded in the file.
    """
    with_file = Image.objects.filter(source=source, split=split).exclude(file="")
    return {key: (width, height) for key, width, height in with_file.values_list("key", *SIZE)}


def _image_numbers(source: ImageSource, split: str) -> dict[str, int]:
    return dict(Image.objects.filter(source=source, split=split).values_list("key", "pk"))
