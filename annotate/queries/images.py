"""Find images and their boxes, and count the images of splits and licences."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Box, Image, ImageSource, ObjectClass, Procedure, Selection, SplitPools
from annotate.queries.keywords import hidden_class_numbers
from corpora.datasets.image_names import ImageNames, Named
from corpora.selection.choose import FEWEST_CLASSES, MOST_CLASSES

# Value of the licence filter for images without a licence.
NO_LICENCE = "none"


class Split(NamedTuple):
    name: str
    source: str
    images: int


def splits(images: QuerySet[Image]) -> list[Split]:
    """The splits of these images with their sizes, by name."""
    rows = images.order_by("split", "source").values_list("split", "source")
    counted = rows.annotate(count=Count("pk"))
    return [Split(name, ImageSource(source).label, count) for name, source, count in counted]


def licences(images: QuerySet[Image]) -> list[str]:
    """The addresses of the licences of these images; empty for images without one."""
    urls = images.order_by("license_url").values_list("license_url", flat=True)
    return list(urls.distinct())


def names_of_images(
    images: QuerySet[Image], asked: Collection[str] | None = None
) -> ImageNames[int]:
    """The primary keys of the images by their names.

    Images of Open Images go by their ids, others also by their file names and addresses. With
    `asked`, those of Open Images with other ids are left out, as a split can have millions.
    """
    rows = images.values_list("pk", "key", "source", "file_name", "url")
    return ImageNames(
        Named(pk, key) if source == ImageSource.OPEN_IMAGES else Named(pk, key, file_name, url)
        for pk, key, source, file_name, url in rows.iterator()
        if source != ImageSource.OPEN_IMAGES or asked is None or key in asked
    )


def found_images(images: QuerySet[Image], wanted: Mapping[str, Any]) -> QuerySet[Image]:
    """Those images for which all of `wanted` holds: `name` (a part of the file's name or title, or
    the beginning of the id), `class`, `split`, `license` and `selection`."""
    if name := wanted.get("name"):
        images = images.filter(
            Q(file_name__icontains=name) | Q(title__icontains=name) | Q(key__startswith=name)
        )
    if split := wanted.get("split"):
        images = images.filter(split=split)
    if url := wanted.get("license"):
        images = images.filter(license_url="" if url == NO_LICENCE else url)
    if class_name := wanted.get("class"):
        # Two steps, because the boxes' index begins with the image.
        classes = list(
            ObjectClass.objects.filter(name__iexact=class_name).values_list("pk", flat=True)
        )
        boxes = Box.objects.verified().filter(image=OuterRef("pk"), object_class__in=classes)
        images = images.filter(Exists(boxes))
    return images


def drawn_boxes(image: Image) -> list[dict[str, Any]]:
    """The image's boxes from left to right, numbered as pages draw them."""
    boxes = image.boxes.verified().select_related("object_class")
    return [
        {
            "number": number,
            "name": box.object_class.name,
            "is_group": box.is_group,
            "x_min": box.x_min,
            "x_max": box.x_max,
            "y_min": box.y_min,
            "y_max": box.y_max,
        }
        for number, box in enumerate(boxes.order_by("x_min", "y_min", "pk"), start=1)
    ]


class NumberedBox(NamedTuple):
    """A box as workers see it, with its number in its image, from 1; edges as fractions of width
    and height."""

    key: int
    number: int
    class_key: int
    label: str
    name: str
    is_group: bool
    is_depiction: bool
    is_part: bool
    x_min: float
    y_min: float
    x_max: float
    y_max: float


COLUMNS = ("pk", "object_class__label", "object_class__name", "is_group", "is_depiction")
EDGES = ("x_min", "y_min", "x_max", "y_max")
Row = tuple[Any, ...]


def numbered_boxes(images: Iterable[int], *, parts: bool) -> dict[int, list[NumberedBox]]:
    """Each image's verified boxes by the image's primary key, in two queries.

    Ordered by class name, then from left to right. Boxes of parts come last and are left out by
    default, so a box has the same number with and without them.
    """
    hidden = hidden_class_numbers()
    rows_of: dict[int, list[Row]] = {image: [] for image in images}
    rows = Box.objects.verified().filter(image__in=rows_of)
    for image, object_class, *row in rows.values_list(
        "image_id", "object_class_id", *COLUMNS, *EDGES
    ).iterator():
        rows_of[image].append((object_class in hidden, object_class, *row))
    return {image: _numbered(rows, parts=parts) for image, rows in rows_of.items()}


def _numbered(rows: list[Row], *, parts: bool) -> list[NumberedBox]:
    def place(row: Row) -> Row:
        is_part, _, key, _, name, _, _, *edges = row
        return (is_part, name.casefold(), *edges, key)

    boxes = []
    for number, row in enumerate(sorted(rows, key=place), start=1):
        is_part, class_key, key, label, name, is_group, is_depiction, *edges = row
        if parts or not is_part:
            flags = (bool(is_group), bool(is_depiction), is_part)
            boxes.append(NumberedBox(key, number, class_key, label, name, *flags, *edges))
    return boxes


# The smallest number of classes of an image that the procedure always takes.
RICH = MOST_CLASSES + 1


class Pool(NamedTuple):
    """Images with this number of classes, and how many of them a selection has."""

    title: str
    images: int
    chosen: int


class Pools(NamedTuple):
    """How the procedure of nocaps sorts the images of a split."""

    pools: list[Pool]
    # Images that do not qualify: not known to be upright, or with fewer than two classes.
    turned: int
    poor: int

    @property
    def available(self) -> int:
        return sum(pool.images for pool in self.pools)

    @property
    def images(self) -> int:
        return self.available + self.turned + self.poor


def pools_of(
    split: str, images: QuerySet[Image], ignored: Sequence[str], selection: Selection | None = None
) -> Pools:
    """The pools of a split, without the ignored classes, and what the selection has of them.

    `images` are those of the split that the reader may see: all of them, or none.
    """
    images = images.filter(split=split)
    total = images.aggregate(images=Count("pk"), upright=Count("pk", filter=Q(rotation=0)))
    counts = _stored(split, ignored) if total["images"] else None
    if counts is None:
        counts = count_by_classes(images, ignored)
    chosen = (
        count_by_classes(images.filter(selected__selection=selection), ignored) if selection else {}
    )
    titles = {n: f"{n} classes" for n in counts} | {RICH: f"more than {MOST_CLASSES} classes"}
    pools = [Pool(titles[n], number, chosen.get(n, 0)) for n, number in counts.items()]
    counted_pools = Pools(pools, total["images"] - total["upright"], 0)
    return counted_pools._replace(poor=total["upright"] - counted_pools.available)


def _stored(split: str, ignored: Sequence[str]) -> dict[int, int] | None:
    """The numbers that the last import of the split stored; None if it did not count these."""
    row = SplitPools.objects.filter(split=split).first()
    if row is None or row.ignored_classes != list(ignored):
        return None
    # Keys of JSON are text.
    return {int(n): number for n, number in row.by_classes.items()}


def count_by_classes(images: QuerySet[Image], ignored: Collection[str]) -> dict[int, int]:
    """Numbers of the upright images by number of classes; RICH stands for itself and all larger
    ones. Reads every box of the images."""
    left_out = list(ObjectClass.objects.filter(name__in=ignored).values_list("pk", flat=True))
    upright = images.filter(rotation=0)
    boxes = Box.objects.verified().filter(image__in=upright).exclude(object_class__in=left_out)
    by_image = boxes.order_by().values("image_id")
    counted = by_image.annotate(classes=Count("object_class", distinct=True))
    numbers = {f"n{n}": Count("classes", filter=Q(classes=n)) for n in range(FEWEST_CLASSES, RICH)}
    numbers[f"n{RICH}"] = Count("classes", filter=Q(classes__gte=RICH))
    counts = counted.aggregate(**numbers)
    return {n: counts[f"n{n}"] for n in range(FEWEST_CLASSES, RICH + 1)}


def is_by_nocaps(selection: Selection) -> bool:
    return selection.procedure == Procedure.NOCAPS
