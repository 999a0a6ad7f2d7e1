"""What releases of every kind say of an image, and how their rows are written."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import Model

from annotate.models import Box, Campaign, Image
from annotate.queries.keywords import hidden_class_numbers
from annotate.selection.domains import domain_of

CHUNK = 2000


def class_names(campaign: Campaign) -> dict[int, set[str]]:
    """The names of the classes in each of the campaign's images, without the hidden parts."""
    names: dict[int, set[str]] = defaultdict(set)
    hidden = hidden_class_numbers()
    boxes = Box.objects.verified().filter(image__tasks__campaign=campaign)
    rows = boxes.values_list("image_id", "object_class_id", "object_class__name").distinct()
    for image_id, object_class_id, name in rows.iterator():
        if object_class_id not in hidden:
            names[image_id].add(name)
    return names


def image_record(image: Image, names: Iterable[str]) -> dict[str, Any]:
    """What an export says of an image, in the published file's words; `license` is added there."""
    file_name = image.file.rsplit("/", 1)[-1] or f"{image.key}.jpg"
    return {
        "open_images_id": image.key,
        "file_name": file_name,
        "width": image.width,
        "height": image.height,
        "coco_url": image.url,
        "domain": domain_of(names) if image.source == "OPEN_IMAGES" else "in-domain",
        "license_url": image.license_url,
        "date_captured": "",
    }


def create_in_chunks(model: type[Model], rows: Iterator[Any]) -> None:
    """Write the rows, a few thousand in memory at a time."""
    while chunk := list(islice(rows, CHUNK)):
        model._default_manager.bulk_create(chunk)
