from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.management.base import DomainCommand
from annotate.management.reports import files_told, rows_told
from annotate.services import imports


class Command(DomainCommand):
    help = (
        "Take in a COCO instances file: categories as classes coco:ID, images, and boxes. The file "
        "is one transaction: a wrong entry stops the import and nothing of it is kept. Running it "
        "again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the instances file (JSON)")
        parser.add_argument(
            "--split", required=True, help="the name by which the images go from now on"
        )
        parser.add_argument(
            "--files", type=Path, help="folder with the image files, whose names end in the id"
        )

    def handle(self, *, file: Path, split: str, files: Path | None, **options: Any) -> None:
        counts = imports.import_coco(path=file, split=split)
        self.stdout.write(rows_told("classes", counts.classes))
        self.stdout.write(rows_told("images", counts.images))
        self.stdout.write(rows_told("boxes", counts.boxes))
        if files:
            self.stdout.write(files_told(files, split))
