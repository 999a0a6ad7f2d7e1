"""The command that creates an invitation link."""

import json
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.services.accounts import MOST_INVITATION_DAYS, MOST_INVITATION_USES, invite
from marketplace.services.links import invitation_url
from shared.number_fields import whole


class Command(DomainCommand):
    help = "Create an invitation and print its link. Anybody with the link can create an account."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--expires",
            type=whole(1, MOST_INVITATION_DAYS),
            default=14,
            metavar="DAYS",
            help="days until the link expires (default: 14)",
        )
        parser.add_argument(
            "--uses",
            type=whole(1, MOST_INVITATION_USES),
            default=1,
            metavar="N",
            help="number of accounts that the link can create (default: 1)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, expires: int, uses: int, **options: Any) -> None:
        at = clock.now()
        invitation = invite(uses=uses, expires_at=at + timedelta(days=expires), at=at)
        url = invitation_url(invitation)
        if options["json"]:
            expires_at = invitation.expires_at.isoformat()
            url = json.dumps({"invitation_url": url, "uses": uses, "expires_at": expires_at})
        self.stdout.write(url)
