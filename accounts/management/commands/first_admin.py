import secrets
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.validators import ASCIIUsernameValidator
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.management.base import DomainCommand
from accounts.models import TeamRole
from accounts.services.teams import add_member, first_team


class Command(DomainCommand):
    help = (
        "Create an operator with a random password, who is also a researcher of the first team, "
        "if the site has no users; otherwise do nothing. The password is printed once. To create "
        "further operators, run `manage.py createsuperuser`."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="admin", help="user name (default: admin)")

    def handle(self, *, name: str, **_: Any) -> None:
        users = User.objects
        if users.exists():
            return
        try:
            ASCIIUsernameValidator()(name)
            User(username=name).clean_fields(exclude=["password"])
        except ValidationError as error:
            raise CommandError(f"--name: {' '.join(error.messages)}") from error
        password = secrets.token_urlsafe(12)
        admin = users.create_superuser(name, password=password)
        at = timezone.now()
        add_member(team=first_team(at=at), user=admin, role=TeamRole.RESEARCHER, at=at)
        self.stdout.write(f"User name: {name}, password: {password}")
