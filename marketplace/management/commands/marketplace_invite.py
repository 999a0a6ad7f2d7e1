"""The command that creates an invitation link."""

import json
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.services.accounts import MOST_INVITATION_DAYS, MOST_INVITATION_USES, invite
from marketplace.services.links import invitation_url


class Command(DomainCommand):
    help = "Create an invitation and print its link. Anybody with the link can create an account."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--expires",
            type=int,
            default=14,
            metavar="DAYS",
            help="days until the link expires (default: 14)",
        )
        parser.add_argument(
            "--uses",
            type=int,
            default=1,
            metavar="N",
            help="number of accounts that the link can create (default: 1)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, expires: int, uses: int, **options: Any) -> None:
        if not 1 <= expires <= MOST_INVITATION_DAYS:
            raise CommandError(f"--expires must be between 1 and {MOST_INVITATION_DAYS} days.")
        if not 1 <= uses <= MOST_INVITATION_USES:
            raise CommandError(f"--uses must be between 1 and {MOST_INVITATION_USES}.")
        at = clock.now()
        invitation = invite(uses=uses, expires_at=at + timedelta(days=expires), at=at)
        url = invitation_url(invitation)
        if options["json"]:
            expires_at = invitation.expires_at.isoformat()
            url = json.dumps({"invitation_url": url, "uses": uses, "expires_at": expires_at})
        self.stdout.write(url)
