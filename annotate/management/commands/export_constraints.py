from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import F, QuerySet

from accounts.management.base import DomainCommand
from annotate.exports.images import released
from annotate.exports.records import EDGES, Boxes
from annotate.kinds import KINDS
from annotate.management.base import release_named
from annotate.models import ClassRelation, ObjectClass, Release
from corpora.captioners.constraints import (
    Candidate,
    excluded_by_name,
    excluded_classes,
    levels,
    read_detections,
)
from corpora.commands import bytes_shown, constraints
from corpora.commands.constraints import ImageBoxes
from corpora.wording import counted

# The boxes of each image, by the image's key.
Detections = Mapping[str, Sequence[Candidate]]


class Command(DomainCommand):
    help = constraints.HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument(
            "--detections",
            type=Path,
            metavar="FILE",
            help="boxes of an object detector, a CSV file with the columns of an Open Images box "
            "file (default: the boxes that people verified, which the release contains)",
        )
        constraints.add_options(parser)

    def handle(self, *, release: str, detections: Path | None, out: Path | None, **_: Any) -> None:
        found = release_named(release)
        classes = dict(_classes_of(found).values_list("label", "name"))
        detected = self.detected(found, detections, classes) if detections else None
        relations = ClassRelation.objects.filter(child__in=_classes_of(found).values("pk"))
        edges = relations.values_list("parent__label", "child__label")
        self.print_lines(
            constraints.constraints(
                _boxes_of(found, detected),
                levels_of=levels(edges.distinct()),
                excluded=excluded_classes() | excluded_by_name(classes),
                info={
                    "release": found.name,
                    "boxes": "verified" if detected is None else "detections",
                },
                out=out,
            )
        )

    def detected(self, release: Release, path: Path, names: Mapping[str, str]) -> Detections:
        """The detections of each image; reports images that only one of the two sides has."""
        with bytes_shown(path) as progress:
            boxes = read_detections(path, names, progress)
        keys = set(release.images.values_list("record__open_images_id", flat=True))
        if not keys & boxes.keys():
            raise CommandError(f"{path} has no image of {release}.")
        for count, outcome in (
            (len(keys - boxes.keys()), f"of {release} without detections."),
            (len(boxes.keys() - keys), f"of {path} ignored, because {release} does not have them."),
        ):
            if count:
                self.stderr.write(f"{counted(count, 'image')} {outcome}")
        return boxes


def _boxes_of(release: Release, detected: Detections | None) -> Iterator[ImageBoxes]:
    """The boxes of each image, once, with the id that the release's files give it."""
    table, *_ = KINDS[release.campaign.kind].tables(release)
    ids = table.values("image_id")
    for (image_id,), image in zip(ids, released(release, once=True), strict=True):
        key = image.record["open_images_id"]
        boxes = verified(image.details["boxes"]) if detected is None else detected.get(key, ())
        yield ImageBoxes({"image_id": image_id, "open_images_id": key}, boxes)


def _classes_of(release: Release) -> QuerySet[ObjectClass]:
    """The classes of the release's team after the shared ones, so that its names win."""
    classes = ObjectClass.objects.of_team(release.campaign.team)
    return classes.order_by(F("team").asc(nulls_first=True))


def verified(boxes: Boxes) -> list[Candidate]:
    """The boxes that people verified, as the release contains them."""
    return [Candidate(box["class"], box["name"], *(box[edge] for edge in EDGES)) for box in boxes]
