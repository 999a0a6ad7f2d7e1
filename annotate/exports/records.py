"""What a release records of its campaign and its images, and writing of many rows.

A release's files, report and evaluation use these records only, never the live tables.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Model

from annotate.exports.hiding import hidden_images
from annotate.models import Box, Campaign, Image, ObjectClass, Release, ReleasedImage, Task
from annotate.queries.keywords import hidden_class_numbers, stored_keywords
from annotate.queries.release_domains import classes_shown
from annotate.selection.domains import DEFAULT_PRESET, DomainTable, preset
from annotate.selection.priming import keywords
from annotate.site.version import software_version
from shared.prepared import insert, insert_statement

CHUNK = 2000
Row = TypeVar("Row")
EDGES = ("x_min", "x_max", "y_min", "y_max")
FLAGS = ("is_occluded", "is_truncated", "is_group", "is_depiction", "is_inside")

# An image's boxes as `details` has them.
Boxes = Sequence[Mapping[str, Any]]


def context_of(campaign: Campaign, domains: str = DEFAULT_PRESET) -> dict[str, Any]:
    """What a new release records of its campaign; `domains` is the name of a preset."""
    return {
        "campaign_file": campaign.config_json,
        "selection": _selection(campaign),
        "caption_set": _caption_set(campaign),
        "software_version": software_version(),
        "domains": preset(domains).reference,
    }


def _selection(campaign: Campaign) -> dict[str, Any] | None:
    """The parameters of the selection, with which it can be drawn again."""
    drawn = campaign.selection
    if drawn is None:
        return None
    return {
        "name": drawn.name,
        "split": drawn.split,
        "procedure": drawn.procedure,
        "count": drawn.count,
        "sample": drawn.sample,
        "seed": drawn.seed,
        "ignored_classes": drawn.ignored_classes,
    }


def _caption_set(campaign: Campaign) -> dict[str, Any] | None:
    given = campaign.caption_set
    if given is None:
        return None
    return {"name": given.name, "release": given.release.name if given.release else None}


def save_images(
    release: Release, tasks: Iterable[Task], more: Iterable[dict[str, Any]] = repeat({})
) -> list[ReleasedImage]:
    """Save the release's images and return them; `more` has further keys of each record. It may
    read the tasks twice.

    Raises HidingRefused if the release hides captions in a way that fits none of its images.
    """
    saved: list[ReleasedImage] = []
    records, rest = ImageRecords(release, tasks), iter(more)
    for chunk in chunks(tasks):
        images = records.save(chunk, rest)
        for image in images:
            # Saves memory. It is loaded again if somebody reads it.
            del image.details
        saved += images
    return saved


class ImageRecords:
    """Saves the images of a release, some at a time.

    `tasks` are all tasks of the release. They are read only if it hides captions; raises
    HidingRefused if it does so in a way that fits none of its images.
    """

    def __init__(self, release: Release, tasks: Iterable[Task]) -> None:
        assert release.context is not None, "see annotate.services.releases"
        self.release = release
        self._hidden = hidden_images(release.hidden, tasks)
        self._table = preset(release.context["domains"]["name"])
        self._boxes = _BoxReader()

    def save(
        self, tasks: Sequence[Task], more: Iterable[dict[str, Any]] = repeat({})
    ) -> list[ReleasedImage]:
        """Save the images of these tasks and return them; `more` as in `save_images`."""
        boxes = self._boxes.boxes_of({task.image_id for task in tasks})
        images = [
            ReleasedImage(
                release=self.release,
                task=task,
                number=task.number,
                record=image_record(task.image, boxes[task.image_id], self._table) | further,
                details=_details(task, boxes[task.image_id]),
                is_hidden=task.image_id in self._hidden,
            )
            for task, further in zip(tasks, more, strict=False)
        ]
        for part in chunks(images, most_rows(ReleasedImage._meta.concrete_fields)):
            insert(*part)
        return images


class _BoxReader:
    """Reads the verified boxes of many images at once."""

    def __init__(self) -> None:
        self._classes = {
            number: (label, name)
            for number, label, name in ObjectClass.objects.values_list("pk", "label", "name")
        }
        self._parts = hidden_class_numbers()

    def boxes_of(self, images: Iterable[int]) -> Mapping[int, Boxes]:
        """The boxes of each image by its primary key, by class name and from left to right."""
        found: dict[int, list[dict[str, Any]]] = defaultdict(list)
        rows = Box.objects.verified().filter(image__in=images)
        columns = rows.values_list("image_id", "object_class_id", *EDGES, *FLAGS)
        for image, object_class, *values in columns.iterator():
            found[image].append(self._box(object_class, values))
        for boxes in found.values():
            boxes.sort(key=_place)
        return found

    def _box(self, object_class: int, values: Sequence[Any]) -> dict[str, Any]:
        label, name = self._classes[object_class]
        return {
            "class": label,
            "name": name,
            "is_keyword": object_class not in self._parts,
            **dict(zip((*EDGES, *FLAGS), values, strict=True)),
        }


def _place(box: Mapping[str, Any]) -> tuple[Any, ...]:
    return (box["name"], box["class"], *(box[edge] for edge in EDGES))


def image_record(image: Image, boxes: Boxes, table: DomainTable) -> dict[str, Any]:
    """The export's record of an image, with the keys of the published nocaps file.

    Exports add `license`. `domain` is null if the image has no class.
    """
    file_name = image.file_name or image.file.rsplit("/", 1)[-1] or f"{image.key}.jpg"
    return {
        "open_images_id": image.key,
        "file_name": file_name,
        "width": image.width,
        "height": image.height,
        "coco_url": image.url,
        "domain": table.of_image(classes_shown(boxes)),
        "license_url": image.license_url,
        "date_captured": "",
    }


def _details(task: Task, boxes: Boxes) -> dict[str, Any]:
    """The facts about an image that its record does not have.

    `keywords` are those that the task showed, or would have shown. `keywords_shown` is null if that
    differs between its responses.
    """
    image = task.image
    stored = stored_keywords(task)
    shown = keywords(name for _, name in classes_shown(boxes)) if stored is None else stored
    return {
        "author": image.author,
        "author_url": image.author_url,
        "landing_url": image.landing_url,
        "title": image.title,
        "license_url": image.license_url,
        "split": image.split,
        "source": image.source,
        "boxes": boxes,
        "keywords": shown,
        "keywords_shown": task.shows_keywords,
    }


def insert_rows(model: type[Model], names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert rows of plain values of these fields, in their order.

    Objects of the model would take most of the time.
    """
    with connection.cursor() as cursor:
        for part in chunks(rows, most_rows(names)):
            sql = insert_statement(model, tuple(names), len(part))
            cursor.execute(sql, [*chain.from_iterable(part)])


def most_rows(columns: Sequence[Any]) -> int:
    """The number of rows of so many columns that one statement can have, at most CHUNK."""
    most = connection.features.max_query_params
    return min(CHUNK, most // len(columns)) if most else CHUNK


def create_in_chunks(model: type[Model], rows: Iterator[Any]) -> None:
    """Create the rows, holding at most CHUNK of them in memory."""
    for chunk in chunks(rows):
        model._default_manager.bulk_create(chunk)


def chunks(rows: Iterable[Row], size: int | None = None) -> Iterator[list[Row]]:
    """The rows in lists of CHUNK, or of another size."""
    rows = iter(rows)
    while chunk := list(islice(rows, size or CHUNK)):
        yield chunk
