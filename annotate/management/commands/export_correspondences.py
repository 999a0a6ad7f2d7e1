from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from annotate.kinds import KINDS
from annotate.kinds.correspondence.kind import CorrespondenceKind
from annotate.management.base import add_export_arguments, release_named


class Command(DomainCommand):
    help = (
        "Write a release of correspondences into a folder: correspondences.json, boxes.json, "
        "gold.json, mentions.json, brackets.txt, and sentences/ with a file for each image."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_export_arguments(parser)

    def handle(self, *, release: str, out: Path, **_: Any) -> None:
        found = release_named(release, CorrespondenceKind.name)
        self.print_lines(map(str, KINDS[found.campaign.kind].write(found, out)))
