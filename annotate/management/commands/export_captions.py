from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.kinds.caption.kind import CaptionKind
from annotate.management.base import DomainCommand, add_export_arguments, release_named
from annotate.services.releases import write_with_hidden


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
        found = release_named(release, CaptionKind.name)
        if hidden:
            paths = write_with_hidden(
                release=found, out_dir=out, actor=_account(by), at=timezone.now()
            )
        else:
            paths = KINDS[found.campaign.kind].write(found, out)
        self.print_lines(map(str, paths))


def _account(name: str | None) -> User:
    """The account of the person who exports; raises CommandError."""
    if name is None:
        raise CommandError("--hidden needs --by NAME: the export is logged under your account.")
    account = User.objects.filter(username=name, is_active=True).first()
    if account is None:
        raise CommandError(f"There is no active account {name!r}.")
    return account
