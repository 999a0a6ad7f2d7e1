"""The command that runs a Python program with its `mturk` client redirected to the marketplace."""

import argparse
import os
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from marketplace.models import Requester
from marketplace.redirect import checked_endpoint, redirected

NOT_FOUND, NOT_RUNNABLE = 127, 126


class Command(BaseCommand):
    help = (
        "Run a Python program with its boto3 mturk client redirected to the marketplace, even "
        "if the program names Amazon's production or sandbox host. The program's files and its "
        "other requests are not changed. The command returns the program's exit status. The "
        "redirection works with any Python that runs the program, and in Python programs that "
        "it starts, but not with Python's options -S, -E and -I, which disable it."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--endpoint",
            metavar="URL",
            default=settings.MARKETPLACE_URL,
            help="address of the marketplace (default: MARKETPLACE_URL, %(default)s)",
        )
        parser.add_argument(
            "--requester",
            metavar="NAME",
            help="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to this requester's keys, "
            "from the marketplace database on this machine (default: do not set them)",
        )
        parser.add_argument(
            "program",
            nargs=argparse.REMAINDER,
            metavar="-- COMMAND …",
            help="program with its options, after two dashes",
        )

    def handle(self, *, endpoint: str, requester: str | None, program: list[str], **_: Any) -> None:
        if program[:1] == ["--"]:
            program = program[1:]
        if not program:
            raise CommandError("Name a program: manage.py marketplace_run -- python script.py")
        try:
            environment = redirected(os.environ, endpoint=checked_endpoint(endpoint))
        except ValueError as error:
            raise CommandError(f"--endpoint: {error}.") from error
        # manage.py has set this for itself. A Django program needs its own settings.
        if environment.get("DJANGO_SETTINGS_MODULE") == "marketplace.settings":
            del environment["DJANGO_SETTINGS_MODULE"]
        if requester is not None:
            environment |= _keys_of(requester)
        _become(program, environment)


def _keys_of(name: str) -> dict[str, str]:
    try:
        call_command("migrate", verbosity=0, interactive=False)
        requester = Requester.objects.get(name=name)
    except Requester.DoesNotExist as error:
        raise CommandError(
            f"No requester is called {name!r}. Create one with `manage.py "
            "marketplace_requester NAME`."
        ) from error
    return {
        "AWS_ACCESS_KEY_ID": requester.access_key,
        "AWS_SECRET_ACCESS_KEY": requester.secret_key,
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def _become(program: list[str], environment: dict[str, str]) -> None:
    """Replace this process by the program, so that it gets signals and sets the exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(program[0], program, environment)
    except FileNotFoundError as error:
        raise CommandError(f"{program[0]} was not found.", returncode=NOT_FOUND) from error
    except OSError as error:
        raise CommandError(
            f"{program[0]} cannot be run: {error.strerror}.", returncode=NOT_RUNNABLE
        ) from error
