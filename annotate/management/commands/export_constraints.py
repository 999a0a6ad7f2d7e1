import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate.captioners.constraints import (
    MOST,
    OVERLAP,
    Candidate,
    choose_constraints,
    excluded_classes,
    levels,
)
from annotate.captioners.detections import read_detections
from annotate.captioners.word_forms import word_forms
from annotate.exports.records import EDGES
from annotate.images.files import write_atomically
from annotate.management.base import DomainCommand, release_named
from annotate.management.reports import bytes_shown
from annotate.models import ClassRelation, ObjectClass, Release, ReleasedImage
from annotate.wording import counted

# The boxes of each image, by the image's key.
Detections = Mapping[str, Sequence[Candidate]]


class Command(DomainCommand):
    help = (
        "For each image of a release, write the objects that a captioning model must mention: the "
        "constraints of nocaps (Agrawal et al. 2019, section 4), with their words."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument(
            "--detections",
            type=Path,
            metavar="FILE",
            help="boxes of an object detector, a CSV file with the columns of an Open Images box "
            "file (default: the boxes that people verified, which the release contains)",
        )
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="folder for constraints.json (default: print it)",
        )

    def handle(self, *, release: str, detections: Path | None, out: Path | None, **_: Any) -> None:
        found = release_named(release)
        detected = self.detected(found, detections) if detections else None
        text = json.dumps(content(found, detected), ensure_ascii=False) + "\n"
        if out is None:
            self.stdout.write(text, ending="")
            return
        path = out / "constraints.json"
        try:
            write_atomically(path, text.encode())
        except OSError as error:
            raise CommandError(f"Cannot write to {out}: {error.strerror}.") from error
        self.stdout.write(str(path))

    def detected(self, release: Release, path: Path) -> Detections:
        """The detections of each image; reports images that only one of the two sides has."""
        names = dict(ObjectClass.objects.values_list("label", "name"))
        with bytes_shown(path) as progress:
            boxes = read_detections(path, names, progress)
        keys = set(release.images.values_list("record__open_images_id", flat=True))
        if not keys & boxes.keys():
            raise CommandError(f"{path} has no image of {release}.")
        for count, what in (
            (len(keys - boxes.keys()), f"of {release} without detections."),
            (len(boxes.keys() - keys), f"of {path} ignored, because {release} does not have them."),
        ):
            if count:
                self.stderr.write(f"{counted(count, 'image')} {what}")
        return boxes


def content(release: Release, detected: Detections | None) -> dict[str, Any]:
    """The content of constraints.json; raises CommandError if the release has no boxes."""
    edges = ClassRelation.objects.values_list("parent__label", "child__label")
    levels_of, excluded = levels(edges.distinct()), excluded_classes()

    def entry(image: ReleasedImage) -> dict[str, Any]:
        key = image.record["open_images_id"]
        boxes = verified(release, image) if detected is None else detected.get(key, ())
        chosen = choose_constraints(boxes, levels_of, excluded)
        return {
            "image_id": image.number,
            "open_images_id": key,
            "constraints": [constraint(box) for box in chosen],
        }

    return {
        "info": {
            "release": release.name,
            "boxes": "verified" if detected is None else "detections",
            "overlap": OVERLAP,
            "most": MOST,
            "excluded_classes": sorted(excluded),
        },
        "images": [entry(image) for image in release.images.iterator()],
    }


def verified(release: Release, image: ReleasedImage) -> list[Candidate]:
    """The boxes that people verified, as the release contains them."""
    if image.details is None:
        raise CommandError(
            f"{release} was made by a version that did not record boxes. Name a file of "
            "detections with --detections."
        )
    return [
        Candidate(box["class"], box["name"], *(box[edge] for edge in EDGES))
        for box in image.details["boxes"]
    ]


def constraint(box: Candidate) -> dict[str, Any]:
    return {
        "class": box.label,
        "name": box.name,
        "words": word_forms(box.name),
        "confidence": box.confidence,
        "fractions": [box.x_min, box.y_min, box.x_max, box.y_max],
    }
