from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.models import TeamRole
from accounts.services.teams import add_member, first_team
from hits.local import random_password


class Command(BaseCommand):
    help = (
        "Create an operator with a random password, who is also a researcher of the first team, "
        "if the site has no users; otherwise do nothing. The password is printed once. To create "
        "further operators, run `manage.py createsuperuser`."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="admin", help="user name (default: admin)")

    def handle(self, *, name: str, **_: Any) -> None:
        users = get_user_model().objects
        if users.exists():
            return
        password = random_password()
        admin = users.create_superuser(name, password=password)
        at = timezone.now()
        add_member(team=first_team(at=at), user=admin, role=TeamRole.RESEARCHER, at=at)
        self.stdout.write(f"User name: {name}, password: {password}")
