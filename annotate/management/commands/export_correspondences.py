from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.kinds.correspondence.export import write_correspondences
from annotate.management.base import DomainCommand, release_named


class Command(DomainCommand):
    help = (
        "Write a release of correspondences into a folder: correspondences.json, boxes.json, "
        "gold.json, mentions.json, brackets.txt, and sentences/ with a file for each image."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="folder to write to"
        )

    def handle(self, *, release: str, out: Path, **_: Any) -> None:
        for path in write_correspondences(release_named(release), out):
            self.stdout.write(str(path))
