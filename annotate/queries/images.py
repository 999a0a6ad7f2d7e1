"""Find images, and count those of splits, licences and pools."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Box, Image, ImageSource, ObjectClass, Procedure, Selection
from annotate.selection.choose import FEWEST_CLASSES, MOST_CLASSES

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


def pools_of(
    images: QuerySet[Image], ignored: Collection[str], selection: Selection | None = None
) -> Pools:
    """The pools of these images without the ignored classes, and what the selection has of them."""
    left_out = list(ObjectClass.objects.filter(name__in=ignored).values_list("pk", flat=True))
    upright = images.filter(rotation=0)
    counts = _by_classes(upright, left_out)
    chosen = (
        _by_classes(upright.filter(selected__selection=selection), left_out) if selection else {}
    )
    pools = [
        Pool(f"{classes} classes", counts.get(classes, 0), chosen.get(classes, 0))
        for classes in range(FEWEST_CLASSES, MOST_CLASSES + 1)
    ]
    rich = Pool(f"more than {MOST_CLASSES} classes", _rich(counts), _rich(chosen))
    found = Pools([*pools, rich], images.count() - upright.count(), 0)
    return found._replace(poor=upright.count() - found.available)


def _by_classes(images: QuerySet[Image], left_out: Collection[int]) -> dict[int, int]:
    """Numbers of images by their number of classes."""
    boxes = Box.objects.verified().filter(image__in=images).exclude(object_class__in=left_out)
    rows = (
        boxes.order_by().values("image_id").annotate(classes=Count("object_class", distinct=True))
    )
    counts: dict[int, int] = {}
    for classes in rows.values_list("classes", flat=True).iterator(10_000):
        counts[classes] = counts.get(classes, 0) + 1
    return counts


def _rich(counts: Mapping[int, int]) -> int:
    return sum(number for classes, number in counts.items() if classes > MOST_CLASSES)


def is_by_nocaps(selection: Selection) -> bool:
    return selection.procedure == Procedure.NOCAPS
