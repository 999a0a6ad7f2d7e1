"""The command that creates an operator or sets a new password."""

import json
import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from marketplace import clock
from marketplace.management.base import DomainCommand
from marketplace.services.operators import add_operator, noted
from shared.second_factors.services import CodeRefused, remove_for_locked_out


class Command(DomainCommand):
    help = (
        "Create an account for the marketplace's admin pages at /operator/ and print its "
        "password. The password is printed only once. The admin pages show everything: "
        "requesters and their keys, workers, HITs, money."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the account")
        change = parser.add_mutually_exclusive_group()
        change.add_argument(
            "--new-password",
            action="store_true",
            help="replace the password of an existing account and end its sessions",
        )
        change.add_argument(
            "--remove-app",
            action="store_true",
            help="only remove the authenticator app of an operator who has lost it; make sure that "
            "the person is who they say",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, name: str, new_password: bool, **options: Any) -> None:
        operator = User.objects.filter(username=name).first()
        if options["remove_app"]:
            self._remove_app(operator, name)
            return
        if operator is not None and not new_password:
            raise CommandError(
                f"The account {name} already exists. Use --new-password to replace its password."
            )
        if operator is None:
            if new_password:
                raise CommandError(f"No account is called {name!r}.")
            operator = add_operator(name=name)
        password = secrets.token_urlsafe(18)
        operator.set_password(password)
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

    def _remove_app(self, operator: User | None, name: str) -> None:
        if operator is None:
            raise CommandError(f"No account is called {name!r}.")
        action = "removed the authenticator app of"
        try:
            with noted(actor="A command", action=action, about=name, at=clock.now()):
                remove_for_locked_out(user=operator)
        except CodeRefused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{name} signs in by password alone now.")
