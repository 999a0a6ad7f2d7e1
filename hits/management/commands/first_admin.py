from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from hits.local.processes import random_password


class Command(BaseCommand):
    help = (
        "Create an administrator with a random password if the site has no users; otherwise do "
        "nothing. The password is printed once. To create further users, run "
        "`manage.py createsuperuser`."
    )

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--name", default="admin", help="user name (default: admin)")

    def handle(self, *, name: str, **_: Any) -> None:
        users = get_user_model().objects
        if users.exists():
            return
        password = random_password()
        users.create_superuser(name, password=password)
        self.stdout.write(f"User name: {name}, password: {password}")
