from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from accounts.management.base import DomainCommand, active_account_named
from accounts.models import TeamRole
from accounts.services.teams import add_member, create_team


class Command(DomainCommand):
    help = "Create a team with its first researcher, who invites the other members."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="short name: letters, digits, hyphens and underscores")
        parser.add_argument("--researcher", required=True, help="user name of an existing account")
        parser.add_argument("--name", default="", help="name on pages (default: the short name)")

    @transaction.atomic
    def handle(self, *, slug: str, researcher: str, name: str, **_: Any) -> None:
        user = active_account_named(researcher)
        at = timezone.now()
        team = create_team(slug=slug, name=name or slug, at=at)
        add_member(team=team, user=user, role=TeamRole.RESEARCHER, at=at)
        self.stdout.write(f"Team {team} created; {researcher} is its researcher.")
