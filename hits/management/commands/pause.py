from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from annotate.management.base import campaign_named
from hits.reconcile.reconciler import sync_moved
from hits.services.lifecycle import pause


class Command(DomainCommand):
    help = (
        "Pause a campaign: it gets no new workers. Workers who have accepted a HIT can finish it. "
        "`publish` resumes the campaign."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the campaign")

    def handle(self, *, campaign: str, **_: Any) -> None:
        found = campaign_named(campaign)
        pause(campaign=found, actor=None, at=timezone.now())
        sync_moved(found)
        self.stdout.write(f"{found} is paused.")
