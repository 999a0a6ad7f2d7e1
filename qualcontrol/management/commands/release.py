"""`release CAMPAIGN --name NAME`: freeze what a campaign has collected."""

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.management.base import DomainCommand, campaign_named
from qualcontrol.services import release_campaign


class Command(DomainCommand):
    help = (
        "Freeze a release of a campaign. Of captions, one of each image, drawn at random, becomes "
        "the human baseline, and the others become its references."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="slug of the campaign")
        parser.add_argument("--name", required=True, help="what the release will be called")
        parser.add_argument(
            "--seed", type=int, help="draws the baseline captions (default: the campaign's seed)"
        )
        parser.add_argument(
            "--partial",
            action="store_true",
            help="release what is there although something is missing",
        )

    def handle(
        self, *, campaign: str, name: str, seed: int | None, partial: bool, **options: object
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
            f"Release {release.name}: {kind.subject_name}s {release.images.count()}. Next: "
            f"python manage.py {kind.export_command} {release.name} --out DIR"
        )
