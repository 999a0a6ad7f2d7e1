"""`release CAMPAIGN --name NAME`: create a release."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.management.base import DomainCommand, campaign_named
from annotate.wording import counted
from qualcontrol.services import release_campaign


class Command(DomainCommand):
    help = (
        "Create a release: a frozen copy of a campaign's responses. In a caption release, one "
        "random caption of each image becomes the human baseline, and the others become its "
        "references."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument("--name", required=True, help="name of the release")
        parser.add_argument(
            "--seed", type=int, help="seed for drawing the baselines (default: the campaign's seed)"
        )
        parser.add_argument(
            "--partial",
            action="store_true",
            help="omit incomplete images and ignore open checks",
        )

    def handle(
        self, *, campaign: str, name: str, seed: int | None, partial: bool, **_: Any
    ) -> None:
        found = campaign_named(campaign)
        release = release_campaign(
            campaign=found,
            name=name,
            seed=found.config.seed if seed is None else seed,
            at=timezone.now(),
            partial=partial,
        )
        kind = KINDS[found.kind]
        self.stdout.write(
            f"Release {release.name}: {counted(release.images.count(), kind.subject_name)}. Next: "
            f"python manage.py {kind.export_command} {release.name} --out DIR"
        )
