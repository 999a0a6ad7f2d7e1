from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from hits.management.base import dollars
from hits.services.lifecycle import add_to_budget


class Command(DomainCommand):
    help = "Add dollars to a campaign's budget. The next sync creates HITs for them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument("amount", metavar="DOLLARS", help="how much to add, including fees")

    def handle(self, *, campaign: str, amount: str, **_: Any) -> None:
        found = campaign_named(campaign)
        add_to_budget(campaign=found, amount=dollars(amount), actor=None, at=timezone.now())
        self.stdout.write(f"The budget of {found} is ${found.budget:,.2f}.")
