from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand, account_named
from accounts.services.teams import remove_second_factor_of


class Command(DomainCommand):
    help = (
        "Remove the authenticator app of somebody who has lost it and has no recovery code. The "
        "logs of their teams say so. Make sure that the person is who they say."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER", help="user name")

    def handle(self, *, user: str, **_: Any) -> None:
        remove_second_factor_of(user=account_named(user), at=timezone.now())
        self.stdout.write(f"{user} signs in by password alone now.")
