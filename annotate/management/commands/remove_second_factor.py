from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from annotate.management.base import DomainCommand, account_named
from annotate.services.second_factors import remove_for_locked_out


class Command(DomainCommand):
    help = (
        "Remove the authenticator app of somebody who has lost it and has no recovery code. The "
        "logs of their teams say so. Make sure that the person is who they say."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER", help="user name")

    def handle(self, *, user: str, **_: Any) -> None:
        remove_for_locked_out(user=account_named(user), at=timezone.now())
        self.stdout.write(f"{user} signs in by password alone now.")
