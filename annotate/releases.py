"""Freezing a release: which caption of an image becomes the human baseline, and which are its
references.

For nocaps, 11 captions per image were collected, one of which was drawn at random as the human
baseline and the other ten are the references (Agrawal et al. 2019, section 3.1).
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from django.db import transaction

from annotate.domains import domain_of
from annotate.errors import DomainError
from annotate.models import (
    Box,
    Campaign,
    Image,
    Release,
    ReleasedCaption,
    ReleasedImage,
    Response,
    Role,
    Task,
)
from annotate.services.campaigns import incomplete_tasks
from annotate.services.priming import hidden_class_numbers


class ReleaseRefused(DomainError):
    """The campaign cannot be released as it is; `missing` lists what is wanting."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"- {line}" for line in missing)]))
        self.missing = list(missing)


def missing(campaign: Campaign) -> list[str]:
    """What the campaign's tasks still lack, a line each; the first twenty, then how many more."""
    counted = incomplete_tasks(campaign).order_by("number")
    tasks = counted.values_list("image__key", "has", "wanted")  # type: ignore[misc]
    lines = [f"image {key} has {has} of {wanted} captions" for key, has, wanted in tasks[:20]]
    if len(lines) == 20 and (more := tasks.count() - 20):
        lines.append(f"and {more} more images")
    return lines


@transaction.atomic
def freeze(
    *,
    campaign: Campaign,
    name: str,
    seed: int,
    at: datetime,
    partial: bool = False,
    open_questions: Sequence[str] = (),
) -> Release:
    """A release of all the campaign's complete images; raises ReleaseRefused.

    `partial` leaves out the incomplete images, and releases in spite of open questions. The draw
    depends on the seed and on the responses alone.
    """
    if Release.objects.filter(name=name).exists():
        raise ReleaseRefused(f"There is a release {name!r} already; it stays as it is.")
    wanting = [*missing(campaign), *open_questions]
    if wanting and not partial:
        raise ReleaseRefused(f"{campaign} is not finished:", wanting)
    by_task = _responses_by_task(campaign)
    tasks = [
        task
        for task in campaign.tasks.select_related("image").order_by("number")
        if len(by_task[task.pk]) >= task.wanted
    ]
    if not tasks:
        raise ReleaseRefused(f"{campaign} has no image with all its captions.")
    release = Release.objects.create(
        name=name, campaign=campaign, seed=seed, is_partial=bool(wanting), created_at=at
    )
    images = ReleasedImage.objects.bulk_create(_released_images(release, tasks), batch_size=2000)
    drawn = _draw(tasks, by_task, seed, campaign.config.baselines)
    rows = _released_captions(images, drawn)
    while chunk := list(islice(rows, 2000)):
        ReleasedCaption.objects.bulk_create(chunk)
    return release


class Candidate(NamedTuple):
    """A response as the draw needs it; a row of a hundred thousand, so no more than that."""

    pk: int
    worker_id: int
    text: str


Draw = list[tuple[Candidate, Role]]


def _responses_by_task(campaign: Campaign) -> dict[int, list[Candidate]]:
    by_task: dict[int, list[Candidate]] = defaultdict(list)
    rows = Response.objects.of(campaign).counting().order_by("pk")
    columns = rows.values_list("task_id", "pk", "worker_id", "caption__text")
    for task_id, pk, worker_id, text in columns.iterator():
        by_task[task_id].append(Candidate(pk, worker_id, text))
    return by_task


def _draw(
    tasks: Iterable[Task], by_task: dict[int, list[Candidate]], seed: int, baselines: int
) -> list[Draw]:
    """For each task, its references in the order they came in and then its baseline."""
    rng = random.Random(seed)
    drawn = []
    for task in tasks:
        chosen = rng.sample(by_task[task.pk], task.wanted)
        references = sorted(chosen[baselines:], key=lambda response: response.pk)
        drawn.append(
            [(response, Role.REFERENCE) for response in references]
            + [(response, Role.BASELINE) for response in chosen[:baselines]]
        )
    return drawn


def _released_images(release: Release, tasks: Iterable[Task]) -> Iterable[ReleasedImage]:
    tasks = list(tasks)
    classes = _class_names(release.campaign)
    for task in tasks:
        record = image_record(task.image, classes[task.image_id])
        yield ReleasedImage(release=release, task=task, number=task.number, record=record)


def _class_names(campaign: Campaign) -> dict[int, set[str]]:
    """The names of the classes in each of the campaign's images, without the hidden parts."""
    names: dict[int, set[str]] = defaultdict(set)
    hidden = hidden_class_numbers()
    boxes = Box.objects.verified().filter(image__tasks__campaign=campaign)
    rows = boxes.values_list("image_id", "object_class_id", "object_class__name").distinct()
    for image_id, object_class_id, name in rows.iterator():
        if object_class_id not in hidden:
            names[image_id].add(name)
    return names


def _released_captions(
    images: Iterable[ReleasedImage], drawn: Iterable[Draw]
) -> Iterator[ReleasedCaption]:
    """The rows of a draw. Workers get numbers in a random order that is kept nowhere, so that
    two releases cannot be joined on them."""
    pairs = [
        (image, *entry) for image, entries in zip(images, drawn, strict=True) for entry in entries
    ]
    workers = sorted({response.worker_id for _, response, _ in pairs})
    random.SystemRandom().shuffle(workers)
    numbers = {worker: number for number, worker in enumerate(workers, start=1)}
    for image, response, role in pairs:
        yield ReleasedCaption(
            image=image,
            response_id=response.pk,
            worker_number=numbers[response.worker_id],
            role=role,
            text=response.text,
        )


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
