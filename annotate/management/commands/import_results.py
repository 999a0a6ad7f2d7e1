from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, add_team_option, team_named
from annotate.management.base import release_named
from annotate.services.caption_sets import import_results


class Command(DomainCommand):
    help = (
        "Import a captions file in the COCO results form, such as a model's captions, as a caption "
        "set: a JSON list of objects with image_id and caption. The file is one transaction: if an "
        "entry is wrong, nothing is imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="results file (JSON)")
        parser.add_argument("--name", required=True, metavar="SET", help="name of the caption set")
        images = parser.add_mutually_exclusive_group(required=True)
        images.add_argument("--split", help="dataset split whose image keys the file has")
        images.add_argument(
            "--release", help="release whose image ids the file has, as in its captions.json"
        )
        add_team_option(parser, "that owns the set of a --split (default: the first team)")

    def handle(
        self,
        *,
        file: Path,
        name: str,
        split: str | None,
        release: str | None,
        team: str | None,
        **_: Any,
    ) -> None:
        if team and release:
            raise CommandError("Leave out --team: the set of a --release belongs to its team.")
        found = release_named(release) if release else None
        counts = import_results(
            path=file,
            name=name,
            at=timezone.now(),
            split=split,
            release=found,
            team=team_named(team),
        )
        self.stdout.write(counts.in_words(name))
