"""Names of users: those that differ only in case are one name, as in Django's lookup `iexact`."""

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError, migrations

ONCE = migrations.RunSQL(
    "CREATE UNIQUE INDEX user_name_once ON auth_user (UPPER(username))",
    "DROP INDEX user_name_once",
)


class CreateSuperuser(createsuperuser.Command):
    """Django's command, which says that a name is taken that differs from another only in case."""

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except IntegrityError as error:
            raise CommandError(
                "Another user has this name, perhaps with other capitals. Choose another name."
            ) from error
