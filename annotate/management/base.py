"""What our commands share: errors in one line, and finding things by name."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotate.config import CampaignFileError
from annotate.errors import DomainError
from annotate.models import Campaign, Release


class DomainCommand(BaseCommand):
    """A command whose domain errors end it with their sentence and exit status 1; it finds its
    tables in place."""

    uses_database = True

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.uses_database:
                prepare_database()
            return super().execute(*args, **options)
        except (DomainError, CampaignFileError) as error:
            raise CommandError(str(error)) from error


def prepare_database() -> None:
    """Make the tables of a new SQLite database, so that the first command just works; raises
    CommandError where tables of a database that somebody keeps are not up to date."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.vendor == "sqlite" and not connection.introspection.table_names():
        call_command("migrate", verbosity=0)
        return
    raise CommandError(
        "The database is not up to date with this version. Make a copy of it, then run "
        "`manage.py migrate`."
    )


def campaign_named(slug: str) -> Campaign:
    """The campaign; raises CommandError with the names there are."""
    return _named(Campaign, "slug", slug, "campaign")


def release_named(name: str) -> Release:
    """The release; raises CommandError with the names there are."""
    return _named(Release, "name", name, "release")


def _named(model: Any, field: str, value: str, noun: str) -> Any:
    found = model.objects.filter(**{field: value}).first()
    if found is None:
        names = ", ".join(model.objects.values_list(field, flat=True)[:20]) or "there is none yet"
        raise CommandError(f"No {noun} is called {value!r} ({names}).")
    return found
