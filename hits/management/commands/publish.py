from decimal import Decimal
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from corpora.wording import counted
from hits.reconcile.reconciler import sync_moved
from hits.services.lifecycle import publish, terms_of
from shared.number_fields import dollars


class Command(DomainCommand):
    help = "Create a campaign's HITs at its marketplace, or resume a paused campaign."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")
        parser.add_argument(
            "--confirm",
            action="store_true",
            help="confirm that you want to spend real money (required at the production "
            "marketplace)",
        )
        parser.add_argument(
            "--cost",
            type=dollars,
            metavar="DOLLARS",
            help="publish only if the campaign's estimated cost is still this, as `estimate` shows "
            "it",
        )

    def handle(self, *, campaign: str, confirm: bool, cost: Decimal | None, **_: Any) -> None:
        found = campaign_named(campaign)
        terms = terms_of(found)
        publish(
            campaign=found,
            actor=None,
            at=timezone.now(),
            confirmed=confirm,
            seen=terms if cost is None else terms._replace(cost=cost),
        )
        sync = sync_moved(found)
        self.stdout.write(
            f"{found} is running at the {found.endpoint} marketplace: "
            f"{counted(sync.hits_created, 'HIT')} created."
        )
