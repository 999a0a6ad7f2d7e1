from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand, release_named
from annotate.services.caption_sets import import_results


class Command(DomainCommand):
    help = (
        "Import a captions file in the COCO results form, such as a model's captions, as a caption "
        "set: a JSON list of objects with image_id and caption. The file is one transaction: if an "
        "entry is wrong, nothing is imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="results file (JSON)")
        parser.add_argument("--name", required=True, metavar="SET", help="name of the caption set")
        images = parser.add_mutually_exclusive_group(required=True)
        images.add_argument("--split", help="dataset split whose image keys the file has")
        images.add_argument(
            "--release", help="release whose image ids the file has, as in its captions.json"
        )

    def handle(
        self, *, file: Path, name: str, split: str | None, release: str | None, **_: Any
    ) -> None:
        found = release_named(release) if release else None
        counts = import_results(path=file, name=name, at=timezone.now(), split=split, release=found)
        skipped = f", {counts.skipped} of other images skipped" if counts.skipped else ""
        self.stdout.write(f"{counts.new} captions in the caption set {name}{skipped}.")
