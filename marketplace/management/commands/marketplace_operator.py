"""Make an operator, or give one a new password."""

import json
import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse


class Command(BaseCommand):
    help = (
        "Make an account for an operator of the marketplace and print its password, this once. "
        "Operators see everything at /operator/: requesters and their keys, workers, HITs, money."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the operator signs in with")
        parser.add_argument(
            "--new-password",
            action="store_true",
            help="replace the password of an operator who is there; their sessions end",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, name: str, new_password: bool, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        operator = User.objects.filter(username=name).first()
        if operator is not None and not new_password:
            raise CommandError(f"{name} is an operator already. --new-password replaces theirs.")
        if operator is None:
            operator = User(username=name, is_staff=True)
        password = secrets.token_urlsafe(18)
        operator.set_password(password)
        try:
            operator.full_clean()
        except ValidationError as error:
            raise CommandError(f"{name!r}: {' '.join(error.messages)}") from error
        operator.save()
        made = {
            "name": name,
            "password": password,
            "sign_in_url": settings.MARKETPLACE_URL + reverse("operator:sign_in"),
        }
        self.stdout.write(
            json.dumps(made)
            if options["json"]
            else f"{name}: {password}\nSign in at {made['sign_in_url']}"
        )
