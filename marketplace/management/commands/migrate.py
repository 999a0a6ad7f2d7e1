"""Django's `migrate`, run by one process at a time for each database.

Every marketplace command migrates the database first, so several may start at the same time.
"""

from typing import Any

from django.core.management.commands import migrate

from shared.database.locks import process_lock


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with process_lock("migrate", waits=True):
            super().handle(*args, **options)
