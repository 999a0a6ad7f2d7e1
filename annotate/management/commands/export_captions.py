from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, active_account_named
from annotate.kinds import KINDS
from annotate.kinds.caption.kind import CaptionKind
from annotate.kinds.exporting import write_with_hidden
from annotate.management.base import add_export_arguments, release_named


class Command(DomainCommand):
    help = "Write a release's captions.json, baseline.json and workers.json into a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        add_export_arguments(parser)
        parser.add_argument(
            "--format",
            choices=["coco"],
            default="coco",
            help="coco: the format of the published nocaps file, which pycocotools reads (default)",
        )
        parser.add_argument(
            "--hidden",
            action="store_true",
            help="also write the captions that the release hides; the release's page lists who "
            "did so, and when",
        )
        parser.add_argument(
            "--by", metavar="NAME", help="name of your account, required with --hidden"
        )

    def handle(self, *, release: str, out: Path, hidden: bool, by: str | None, **_: Any) -> None:
        if by is not None and not hidden:
            raise CommandError("--by goes with --hidden.")
        found = release_named(release, CaptionKind.name)
        if not hidden:
            paths = KINDS[found.campaign.kind].write(found, out)
        elif by is None:
            raise CommandError("--hidden needs --by NAME: the export is logged under your account.")
        else:
            actor = active_account_named(by)
            paths = write_with_hidden(release=found, out_dir=out, actor=actor, at=timezone.now())
        self.print_lines(map(str, paths))
