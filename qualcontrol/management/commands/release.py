"""`release CAMPAIGN --name NAME`: freeze what a campaign has collected."""

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotate.errors import DomainError
from annotate.models import Campaign
from qualcontrol import services


class Command(BaseCommand):
    help = (
        "Freeze a release of a campaign: for each image one caption, drawn at random, becomes the "
        "human baseline, and the others become its references."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="slug of the campaign")
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
        try:
            found = Campaign.objects.get(slug=campaign)
        except Campaign.DoesNotExist as error:
            raise CommandError(f"No campaign is called {campaign!r}.") from error
        try:
            release = services.release_campaign(
                campaign=found,
                name=name,
                seed=found.config.seed if seed is None else seed,
                at=timezone.now(),
                partial=partial,
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        images = release.images.count()
        self.stdout.write(
            f"Release {release.name}: images {images}. Next: "
            f"python manage.py export_captions {release.name} --out DIR"
        )
