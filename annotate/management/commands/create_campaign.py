from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, add_team_option, team_named
from annotate.kinds import KINDS
from annotate.kinds.campaign_files import read_plan
from annotate.services.campaigns import create_campaigns
from corpora.wording import counted


class Command(DomainCommand):
    help = (
        "Create a draft campaign from a TOML file, or one for each of its languages "
        "(docs/campaign-file.md lists its keys)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.toml", help="the campaign file")
        add_team_option(parser, "that owns the campaign (default: the first team)")

    def handle(self, *, file: Path, team: str | None, **_: Any) -> None:
        made = create_campaigns(
            plan=read_plan(file),
            endpoint=settings.MTURK_ENDPOINT,
            team=team_named(team),
            at=timezone.now(),
        )
        for campaign in made:
            tasks = counted(campaign.tasks.count(), KINDS[campaign.kind].subject_name)
            responses = counted(campaign.config.wanted, "response")
            self.stdout.write(
                f"{campaign}: {tasks}, {responses} each, for the {campaign.endpoint} marketplace. "
                f"Next: `manage.py estimate {campaign}`, then `manage.py publish {campaign}`."
            )
