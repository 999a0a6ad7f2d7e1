"""Records of images for exports, and writing of many rows."""

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
    """Names of the classes in each of the campaign's images by primary key, without hidden
    parts."""
    names: dict[int, set[str]] = defaultdict(set)
    hidden = hidden_class_numbers()
    boxes = Box.objects.verified().filter(image__tasks__campaign=campaign)
    rows = boxes.values_list("image_id", "object_class_id", "object_class__name").distinct()
    for image_id, object_class_id, name in rows.iterator():
        if object_class_id not in hidden:
            names[image_id].add(name)
    return names


def image_record(image: Image, names: Iterable[str]) -> dict[str, Any]:
    """The export's record of an image, with the keys of the published nocaps file.

    Callers add `license`.
    """
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
    """Create the rows, holding at most CHUNK of them in memory."""
    while chunk := list(islice(rows, CHUNK)):
        model._default_manager.bulk_create(chunk)
