from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, team_named
from annotate.management.base import add_owner_options, import_image_files
from annotate.services import imports
from annotate.services.caption_sets import import_captions


class Command(DomainCommand):
    help = (
        "Import a COCO instances file: categories (as classes coco:ID), images and boxes. With "
        "--captions, import a COCO captions file for images of the split. The file is one "
        "transaction: if an entry is wrong, nothing is imported. Importing an instances file again "
        "changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="instances or captions file (JSON)")
        parser.add_argument(
            "--split", required=True, help="dataset split to store the images under"
        )
        parser.add_argument(
            "--files",
            type=Path,
            help="folder with image files, which have the names in the instances file, or names "
            "that end in the image id",
        )

        parser.add_argument(
            "--captions", metavar="SET", help="import captions as a caption set of this name"
        )
        add_owner_options(parser)

    def handle(
        self,
        *,
        file: Path,
        split: str,
        files: Path | None,
        captions: str | None,
        team: str | None,
        change_published: bool,
        **_: Any,
    ) -> None:
        owner: dict[str, Any] = {"team": team_named(team), "change_published": change_published}
        if captions:
            counts = import_captions(
                path=file, split=split, name=captions, team=owner["team"], at=timezone.now()
            )
            self.stdout.write(counts.in_words(captions))
        else:
            self.print_lines(imports.import_coco(path=file, split=split, **owner).in_words())
        if files:
            self.stdout.write(import_image_files(files, split, **owner))
