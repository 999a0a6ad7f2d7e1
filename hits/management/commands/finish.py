from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from hits.reconcile.reconciler import sync_moved
from hits.services.lifecycle import finish


class Command(DomainCommand):
    help = (
        "Finish a campaign permanently: it gets no new HITs. Submitted work is still imported "
        "and paid."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")

    def handle(self, *, campaign: str, **_: Any) -> None:
        found = campaign_named(campaign)
        finish(campaign=found, actor=None, at=timezone.now())
        sync_moved(found)
        self.stdout.write(f"{found} is finished.")
