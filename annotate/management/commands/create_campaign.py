from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.kinds import KINDS
from annotate.kinds.reading import read_config
from annotate.management.base import DomainCommand, add_team_option, team_named
from annotate.services.campaigns import create_campaign


class Command(DomainCommand):
    help = "Create a draft campaign from a TOML file (docs/campaign-file.md lists its keys)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.toml", help="the campaign file")
        add_team_option(parser, "that owns the campaign (default: the first team)")

    def handle(self, *, file: Path, team: str | None, **_: Any) -> None:
        campaign = create_campaign(
            config=read_config(file),
            endpoint=settings.MTURK_ENDPOINT,
            team=team_named(team),
            at=timezone.now(),
        )
        self.stdout.write(
            f"{campaign}: {campaign.tasks.count()} {KINDS[campaign.kind].subject_name}s, "
            f"{campaign.config.wanted} responses each, for the {campaign.endpoint} marketplace. "
            f"Next: `manage.py estimate {campaign}`, then `manage.py publish {campaign}`."
        )
