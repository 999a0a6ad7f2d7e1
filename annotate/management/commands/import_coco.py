from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand, add_team_option, team_named
from annotate.management.reports import counts_line, import_image_files
from annotate.models import Team
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
            "--files", type=Path, help="folder with image files, whose names end in the image id"
        )

        parser.add_argument(
            "--captions", metavar="SET", help="import captions as a caption set of this name"
        )
        add_team_option(parser, "that owns the caption set (default: the first team)")

    def handle(
        self,
        *,
        file: Path,
        split: str,
        files: Path | None,
        captions: str | None,
        team: str | None,
        **_: Any,
    ) -> None:
        if team and not captions:
            raise CommandError("--team needs --captions: every team sees the images of a dataset.")
        if captions:
            self._import_captions(file, split, captions, team_named(team))
        else:
            self._import_instances(file, split)
        if files:
            self.stdout.write(import_image_files(files, split))

    def _import_captions(self, file: Path, split: str, name: str, team: Team | None) -> None:
        counts = import_captions(path=file, split=split, name=name, team=team, at=timezone.now())
        skipped = f", {counts.skipped} of unknown images skipped" if counts.skipped else ""
        self.stdout.write(f"{counts.new} captions in the set {name}{skipped}.")

    def _import_instances(self, file: Path, split: str) -> None:
        counts = imports.import_coco(path=file, split=split)
        self.stdout.write(counts_line("classes", counts.classes))
        self.stdout.write(counts_line("images", counts.images))
        self.stdout.write(counts_line("boxes", counts.boxes))
