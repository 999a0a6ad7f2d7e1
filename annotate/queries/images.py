"""Find images and their boxes, and count the images of splits and licences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Box, Image, ImageSource, ObjectClass

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
