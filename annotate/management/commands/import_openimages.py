from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.management.base import DomainCommand, team_named
from annotate.management.base import add_owner_options, import_image_files
from annotate.services import imports
from corpora.commands import bytes_shown
from corpora.wording import counted

BOX_ELSEWHERE = "box is of an image that is not in the split"
BOXES_ELSEWHERE = "boxes are of images that are not in the split"


class Command(DomainCommand):
    help = (
        "Import files of Open Images, V4 to V7: any of them, in one run or in several. Each file "
        "is one transaction: if a line is malformed, nothing of its file is imported. Importing a "
        "file again changes nothing. Files can be compressed (.gz)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--classes", type=Path, help="class descriptions (CSV)")
        parser.add_argument("--hierarchy", type=Path, help="class hierarchy (JSON)")
        parser.add_argument("--images", type=Path, help="image metadata (CSV)")
        parser.add_argument("--boxes", type=Path, help="boxes of imported images (CSV)")
        parser.add_argument("--files", type=Path, help="folder with image files, named by image id")
        parser.add_argument("--split", help="dataset split to store the images under")
        parser.add_argument(
            "--base-url",
            default="",
            help="load the images of --images from URL/ID.jpg; an https:// or http:// address, "
            "or a path of this site that begins with /",
        )
        parser.add_argument(
            "--require-images",
            action="store_true",
            help="stop if a box belongs to an image that is not in the split (default: count such "
            "boxes and skip them)",
        )
        add_owner_options(parser)

    def handle(self, **options: Any) -> None:
        files = ("classes", "hierarchy", "images", "boxes", "files")
        if not any(options[name] for name in files):
            raise CommandError("Nothing to import: name at least one of --" + ", --".join(files))
        if not options["split"] and any(options[name] for name in files[2:]):
            raise CommandError("--images, --boxes and --files need --split NAME.")
        if options["base_url"] and not options["images"]:
            raise CommandError("--base-url goes with --images.")
        if options["require_images"] and not options["boxes"]:
            raise CommandError("--require-images goes with --boxes.")
        self.import_files(**options)

    def import_files(
        self, *, split: str, base_url: str, team: str | None, change_published: bool, **options: Any
    ) -> None:
        owner: dict[str, Any] = {"team": team_named(team), "change_published": change_published}
        if path := options["classes"]:
            with bytes_shown(path) as progress:
                counts = imports.import_classes(path=path, progress=progress, **owner)
            self.stdout.write(counts.in_words("class", "classes"))
        if path := options["hierarchy"]:
            counts = imports.import_hierarchy(path=path, **owner)
            self.stdout.write(counts.in_words("relation", "relations of classes"))
        if path := options["images"]:
            with bytes_shown(path) as progress:
                counts = imports.import_images(
                    path=path, split=split, base_url=base_url, progress=progress, **owner
                )
            self.stdout.write(counts.in_words("image"))
        if path := options["boxes"]:
            required = options["require_images"]
            with bytes_shown(path) as progress:
                counts = imports.import_boxes(
                    path=path, split=split, require_images=required, progress=progress, **owner
                )
            self.stdout.write(counts.in_words("box", "boxes"))
            if counts.skipped:
                boxes = counted(counts.skipped, BOX_ELSEWHERE, BOXES_ELSEWHERE)
                self.stderr.write(
                    f"{boxes} {split!r}. To import them, import the images' metadata and run this "
                    "command again."
                )
        if folder := options["files"]:
            self.stdout.write(import_image_files(folder, split, **owner))
