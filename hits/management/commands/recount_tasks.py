from typing import Any

from django.core.management.base import CommandParser

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from corpora.wording import counted
from hits.services.claims import recount_places


class Command(DomainCommand):
    help = "Recompute the places left of each task from its claims and responses."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")

    def handle(self, *, campaign: str, **_: Any) -> None:
        wrong = recount_places(campaign_named(campaign))
        self.stdout.write(f"{counted(wrong, 'task')} corrected.")
