from typing import Any

from django.contrib.auth.management.commands.createsuperuser import Command as CreateSuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError


class Command(CreateSuperuser):
    """Django's command, which says that a name is taken that differs from another only in case."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError as error:
            raise CommandError(
                "Another user has this name, perhaps with other capitals. Choose another name."
            ) from error
