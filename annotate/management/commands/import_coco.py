from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand
from annotate.management.reports import files_told, rows_told
from annotate.services import imports
from annotate.services.caption_sets import import_captions


class Command(DomainCommand):
    help = (
        "Take in a COCO instances file: categories as classes coco:ID, images, and boxes; or with "
        "--captions a captions file of images that are here. The file is one transaction: a wrong "
        "entry stops the import and nothing of it is kept. Instances may be imported again, which "
        "changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the instances or captions file (JSON)")
        parser.add_argument(
            "--split", required=True, help="the name by which the images go from now on"
        )
        parser.add_argument(
            "--files", type=Path, help="folder with the image files, whose names end in the id"
        )

        parser.add_argument(
            "--captions", metavar="SET", help="take in the file's captions, as a set of this name"
        )

    def handle(
        self, *, file: Path, split: str, files: Path | None, captions: str | None, **_: Any
    ) -> None:
        if captions:
            self._import_captions(file, split, captions)
        else:
            self._import_instances(file, split)
        if files:
            self.stdout.write(files_told(files, split))

    def _import_captions(self, file: Path, split: str, name: str) -> None:
        counts = import_captions(path=file, split=split, name=name, at=timezone.now())
        skipped = f", {counts.skipped} of unknown images skipped" if counts.skipped else ""
        self.stdout.write(f"{counts.new} captions in the set {name}{skipped}.")

    def _import_instances(self, file: Path, split: str) -> None:
        counts = imports.import_coco(path=file, split=split)
        self.stdout.write(rows_told("classes", counts.classes))
        self.stdout.write(rows_told("images", counts.images))
        self.stdout.write(rows_told("boxes", counts.boxes))
