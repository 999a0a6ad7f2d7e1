"""A release's records of its campaign and its images.

A release's files, report and evaluation use these records only, never the live tables.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from annotate.exports.provenance import imports_of
from annotate.models import (
    Box,
    Campaign,
    CaptionSet,
    Image,
    ImportedFile,
    ObjectClass,
    Release,
    ReleasedImage,
    Task,
)
from annotate.queries.keywords import hidden_class_numbers, stored_keywords
from annotate.queries.releases import classes_shown
from corpora.errors import DomainError
from corpora.selection.domains import DEFAULT_PRESET, DomainTable, preset
from corpora.selection.priming import keywords
from shared.database.transactions import batches
from shared.version import software_version

# As Release.hidden has it: {"splits": […]}, or {"share": …, "seed": …}.
Rule = Mapping[str, Any]


class HidingRefused(DomainError):
    """The captions cannot be hidden in this way."""


def rule_of(*, splits: Sequence[str] = (), share: float | None = None) -> dict[str, Any] | None:
    """The rule that a person asks for, without a seed; None to hide nothing.

    Raises HidingRefused.
    """
    if splits and share is not None:
        raise HidingRefused("Hide captions by split or by a share, not both.")
    if splits:
        return {"splits": sorted(set(splits))}
    if share is None:
        return None
    if not 0 < share <= 1:
        raise HidingRefused("The share of images with hidden captions must be above 0 and up to 1.")
    return {"share": share}


def hidden_images(release: Release, tasks: Iterable[Task]) -> set[int]:
    """Primary keys of the release's images whose captions are hidden; raises HidingRefused.

    A share is drawn from the campaign's images in the order of the tasks, so that a partial release
    with the same seed hides none that the complete one shows.
    """
    if release.hidden is None:
        return set()
    images = {task.image_id: task.image.split for task in tasks}
    if "splits" in release.hidden:
        return _in_splits(release.hidden, images)
    of_campaign = release.campaign.tasks.order_by("number").values_list("image", flat=True)
    hidden = _share(release.hidden, [*dict.fromkeys(of_campaign)]).intersection(images)
    if not hidden:
        raise HidingRefused("None of the images that were drawn to be hidden is complete.")
    return hidden


def _in_splits(rule: Rule, images: Mapping[int, str]) -> set[int]:
    splits = set(images.values())
    if unknown := sorted(set(rule["splits"]) - splits):
        raise HidingRefused(
            f"The release has no image of the split {', '.join(unknown)}. Its splits are "
            f"{', '.join(sorted(splits))}."
        )
    return {image for image, split in images.items() if split in rule["splits"]}


def _share(rule: Rule, images: Sequence[int]) -> set[int]:
    count = round(rule["share"] * len(images))
    if count == 0:
        raise HidingRefused(
            f"A share of {rule['share']:g} of {len(images)} images is less than one image."
        )
    return set(random.Random(f"{rule['seed']}/hidden").sample(images, count))


EDGES = ("x_min", "x_max", "y_min", "y_max")
FLAGS = ("is_occluded", "is_truncated", "is_group", "is_depiction", "is_inside")

# An image's boxes as `details` has them.
Boxes = Sequence[Mapping[str, Any]]


def context_of(campaign: Campaign, domains: str = DEFAULT_PRESET) -> dict[str, Any]:
    """A new release's record of its campaign; `domains` is the name of a preset."""
    return {
        "campaign_file": campaign.config_json,
        "selection": _selection(campaign),
        "caption_set": _caption_set(campaign),
        "rated_captions": _rated_captions(campaign),
        "software_version": software_version(),
        "domains": preset(domains).reference,
        "imports": [],
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
    return {
        "name": given.name,
        "release": given.release.name if given.release else None,
        "captions": _origin(given.release),
    }


def _rated_captions(campaign: Campaign) -> dict[str, str]:
    """Where the captions of each source came from, in a campaign that rates captions."""
    sources = (campaign.config_json.get(campaign.kind) or {}).get("sources", ())
    return {source["name"]: _origin(_release_of(source, campaign)) for source in sources}


def _release_of(source: Mapping[str, Any], campaign: Campaign) -> Release | None:
    """The release of a source's captions; None if these were imported as a set."""
    if name := source.get("release"):
        return Release.objects.of_team(campaign.team).filter(name=name).first()
    sets = CaptionSet.objects.of_team(campaign.team).select_related("release")
    given = sets.filter(name=source.get("caption_set")).first()
    return given.release if given else None


def _origin(release: Release | None) -> str:
    """Where the captions of a release, or of a set without one, came from."""
    if release is None:
        return "imported from a file"
    imported = sum(file["responses"] for file in imports_of(release))
    if not imported:
        return "collected here"
    return f"imported from files ({imported} of {imported + release.context['collected']})"


def import_record(file: ImportedFile, responses: int) -> dict[str, Any]:
    """A release's record of a file from which this many of its responses were imported."""
    return {
        "file": file.name,
        "sha256": file.sha256,
        "at": file.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "responses": responses,
    }


def save_images(
    release: Release, tasks: Iterable[Task], more: Iterable[dict[str, Any]]
) -> list[ReleasedImage]:
    """Save the release's images and return them; `more` has further keys of each record. It may
    read the tasks twice.

    Raises HidingRefused if the release hides captions in a way that fits none of its images.
    """
    saved: list[ReleasedImage] = []
    records, additions = ImageRecords(release, tasks), iter(more)
    for batch in batches(tasks):
        images = records.save(batch, additions)
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
        self.release = release
        self._hidden = hidden_images(release, tasks)
        self._table = preset(release.context["domains"]["name"])
        self._boxes = _BoxReader()

    def save(
        self,
        tasks: Sequence[Task],
        more: Iterable[dict[str, Any]],
        keywords_shown: Iterable[bool | None] = repeat(False),
    ) -> list[ReleasedImage]:
        """Save the images of these tasks and return them; `more` as in `save_images`.

        `keywords_shown` says of each whether the workers of its responses saw the keywords; None if
        nobody knows, or if that differs between them.
        """
        boxes = self._boxes.boxes_of({task.image_id for task in tasks})
        images = [
            ReleasedImage(
                release=self.release,
                task=task,
                number=task.number,
                record=image_record(task.image, boxes[task.image_id], self._table) | further,
                details=_details(task, boxes[task.image_id], shown),
                is_hidden=task.image_id in self._hidden,
            )
            for task, further, shown in zip(tasks, more, keywords_shown, strict=False)
        ]
        return ReleasedImage.objects.bulk_create(images)


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
        boxes_by_image: dict[int, list[dict[str, Any]]] = defaultdict(list)
        rows = Box.objects.verified().filter(image__in=images)
        columns = rows.values_list("image_id", "object_class_id", *EDGES, *FLAGS)
        for image, object_class, *values in columns.iterator():
            boxes_by_image[image].append(self._box(object_class, values))
        for boxes in boxes_by_image.values():
            boxes.sort(key=_place)
        return boxes_by_image

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
    return {
        "open_images_id": image.key,
        "file_name": _file_name(image),
        "width": image.width,
        "height": image.height,
        "coco_url": image.url,
        "domain": table.of_image(classes_shown(boxes)),
        "license_url": image.license_url,
        "date_captured": "",
    }


def image_names(image: Image) -> dict[str, str]:
    """The image's id in its dataset and the name of its file, for files about captions."""
    return {"image": image.key, "file_name": _file_name(image)}


def _file_name(image: Image) -> str:
    return image.file_name or image.file.rsplit("/", 1)[-1] or f"{image.key}.jpg"


def _details(task: Task, boxes: Boxes, keywords_shown: bool | None) -> dict[str, Any]:
    """The facts about an image that its record does not have.

    `keywords` are those that the task showed, or would have shown.
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
        "keywords_shown": keywords_shown,
    }
