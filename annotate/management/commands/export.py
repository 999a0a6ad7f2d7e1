from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotate.kinds import KINDS
from annotate.management.base import DomainCommand, release_named


class Command(DomainCommand):
    help = "Write the files of a release, of any kind of task, into a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name of the release")
        parser.add_argument(
            "--out", type=Path, required=True, metavar="DIR", help="folder to write to"
        )

    def handle(self, *, release: str, out: Path, **_: Any) -> None:
        found = release_named(release)
        for path in KINDS[found.campaign.kind].write(found, out):
            self.stdout.write(str(path))
