from pathlib import Path

from annotate.exports.captions import write_captions
from annotate.management.base import DomainCommand, release_named


class Command(DomainCommand):
    help = "Write a release's captions.json, baseline.json and workers.json into a folder."

    def add_arguments(self, parser):
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder")
        parser.add_argument(
            "--format",
            choices=["coco"],
            default="coco",
            help="coco: the form of the published nocaps file, which pycocotools opens (default)",
        )

    def handle(self, *, release: str, out: Path, **options):
        for path in write_captions(release_named(release), out):
            self.stdout.write(str(path))
