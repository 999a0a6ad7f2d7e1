import secrets
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from accounts.management.base import DomainCommand
from leaderboard.services.submissions import create_submitter


class Command(DomainCommand):
    help = (
        "Create an account that may submit to challenges and see nothing else. The password is "
        "random and printed once."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="user name")
        parser.add_argument(
            "--team", metavar="TEXT", help="name on the boards (default: the user name)"
        )

    def handle(self, *, name: str, team: str | None, **_: Any) -> None:
        password = secrets.token_urlsafe(12)
        create_submitter(name=name, password=password, team=team or name, at=timezone.now())
        self.stdout.write(f"User name: {name}, password: {password}")
