from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.kinds.caption.export import write_captions
from annotate.management.base import DomainCommand, release_named


class Command(DomainCommand):
    help = "Write a release's captions.json, baseline.json and workers.json into a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="folder to write to"
        )
        parser.add_argument(
            "--format",
            choices=["coco"],
            default="coco",
            help="coco: the format of the published nocaps file, which pycocotools reads (default)",
        )

    def handle(self, *, release: str, out: Path, **_: Any) -> None:
        for path in write_captions(release_named(release), out):
            self.stdout.write(str(path))
