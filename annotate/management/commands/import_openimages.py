from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotate.management.base import DomainCommand
from annotate.management.reports import bytes_shown, files_told, rows_told
from annotate.services import imports


class Command(DomainCommand):
    help = (
        "Take in the files of Open Images, V4 to V7: any of them, in one run or in several. Each "
        "file is one transaction: a malformed line stops the import and nothing of its file is "
        "kept. Running it again changes nothing. Files may be packed (.gz)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--classes", type=Path, help="class descriptions (CSV)")
        parser.add_argument("--hierarchy", type=Path, help="the hierarchy of classes (JSON)")
        parser.add_argument("--images", type=Path, help="image metadata (CSV)")
        parser.add_argument("--boxes", type=Path, help="boxes of images already known (CSV)")
        parser.add_argument("--files", type=Path, help="folder with the image files, named by id")
        parser.add_argument("--split", help="the name by which the images go from now on")
        parser.add_argument(
            "--base-url",
            default="",
            help="pages show the images of --images from URL/ID.jpg; an https:// or http:// "
            "address, or a path of this site that begins with /",
        )
        parser.add_argument(
            "--require-images",
            action="store_true",
            help="a box of an image that is not known is an error; else such boxes are counted "
            "and passed over",
        )

    def handle(self, **options: Any) -> None:
        files = ("classes", "hierarchy", "images", "boxes", "files")
        if not any(options[name] for name in files):
            raise CommandError("Nothing to import: name at least one of --" + ", --".join(files))
        if not options["split"] and any(options[name] for name in files[2:]):
            raise CommandError("--images, --boxes and --files need --split NAME.")
        if options["base_url"] and not options["images"]:
            raise CommandError("--base-url goes with --images.")
        self.import_files(**options)

    def import_files(self, *, split: str, base_url: str, **options: Any) -> None:
        if path := options["classes"]:
            with bytes_shown(path) as progress:
                counts = imports.import_classes(path=path, progress=progress)
            self.stdout.write(rows_told("classes", counts))
        if path := options["hierarchy"]:
            counts = imports.import_hierarchy(path=path)
            self.stdout.write(rows_told("relations of classes", counts))
        if path := options["images"]:
            with bytes_shown(path) as progress:
                counts = imports.import_images(
                    path=path, split=split, base_url=base_url, progress=progress
                )
            self.stdout.write(rows_told("images", counts))
        if path := options["boxes"]:
            required = options["require_images"]
            with bytes_shown(path) as progress:
                counts = imports.import_boxes(
                    path=path, split=split, require_images=required, progress=progress
                )
            self.stdout.write(rows_told("boxes", counts))
            if counts.skipped:
                self.stderr.write(
                    f"{counts.skipped} boxes are of images that the split {split!r} does not hold; "
                    "import their metadata and run this again to take them in."
                )
        if folder := options["files"]:
            self.stdout.write(files_told(folder, split))
