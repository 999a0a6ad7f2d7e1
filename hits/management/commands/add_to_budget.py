from decimal import Decimal
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from hits.services.lifecycle import add_to_budget
from shared.number_fields import dollars


class Command(DomainCommand):
    help = "Add dollars to a campaign's budget. The next sync creates HITs for them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "amount", type=dollars, metavar="DOLLARS", help="how much to add, including fees"
        )

    def handle(self, *, campaign: str, amount: Decimal, **_: Any) -> None:
        found = campaign_named(campaign)
        add_to_budget(campaign=found, amount=amount, actor=None, at=timezone.now())
        self.stdout.write(f"The budget of {found} is ${found.budget:,.2f}.")
