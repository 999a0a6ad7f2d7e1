"""The base class of the marketplace's commands."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from marketplace.errors import DomainError


class DomainCommand(BaseCommand):
    """A command that brings the database up to date, and ends with one line on an error."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        call_command("migrate", verbosity=0, interactive=False)
        try:
            return super().execute(*args, **options)
        except DomainError as error:
            raise CommandError(str(error)) from error
