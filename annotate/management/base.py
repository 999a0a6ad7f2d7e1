"""The base class of our commands, and functions that find objects by name."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from annotate.campaign_file import checked_tag
from annotate.errors import DomainError, one_line
from annotate.kinds.reading import CampaignFileError
from annotate.models import Campaign, Release, Team
from annotate.queries.release_domains import unknown_classes
from annotate.selection.domains import PRESETS, DomainTable, table_named

Named = TypeVar("Named", Campaign, Release, Team)


class DomainCommand(BaseCommand):
    """A command that creates the tables of a new database, and ends with one line on an error."""

    uses_database = True
    # The checks load all pages, which takes half of a short command's time. `check`, `migrate` and
    # `runserver` run them.
    requires_system_checks: tuple[str, ...] = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.uses_database:
                prepare_database()
            return super().execute(*args, **options)
        except (DomainError, CampaignFileError) as error:
            raise CommandError(str(error)) from error
        except (InterfaceError, OperationalError) as error:
            raise CommandError(f"The database failed: {one_line(error)}") from error

    def table_of_domains(self, name: str | None) -> DomainTable | None:
        """The table that the option --domains names; None without the option.

        Warns about classes of the table that no dataset has. Raises DomainError.
        """
        if name is None:
            return None
        table = table_named(name)
        if unknown := unknown_classes(table):
            self.stderr.write(
                f"Warning: no imported dataset has {listed(unknown)}, which {name} lists."
            )
        return table


def add_domains_option(parser: CommandParser) -> None:
    """Add the option --domains, which `DomainCommand.table_of_domains` reads."""
    parser.add_argument(
        "--domains",
        metavar="TABLE",
        help=f"compute domains by another table than the release's: {', '.join(PRESETS)}, or the "
        "path of a CSV file with the columns class and domain",
    )


def add_team_option(parser: CommandParser, help: str) -> None:
    """Add the option --team, whose value `team_named` takes."""
    parser.add_argument("--team", metavar="SLUG", help=f"short name of the team {help}")


def checked_language(tag: str) -> str:
    """The value of an option --language; raises CommandError if it is no tag of a language."""
    try:
        return checked_tag(tag)
    except ValueError as error:
        raise CommandError(f"--language: {error}.") from error


def prepare_database() -> None:
    """Create the tables of a new SQLite database, so that the first command works.

    Raises CommandError if an existing database is not up to date.
    """
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return
    if connection.vendor == "sqlite" and not connection.introspection.table_names():
        call_command("migrate", verbosity=0)
        return
    raise CommandError(
        "The database is not up to date with this version. Back it up, then run "
        "`manage.py migrate`."
    )


def campaign_named(slug: str) -> Campaign:
    """The campaign; raises CommandError, which lists existing names."""
    return _named(Campaign, "slug", slug, "campaign")


def release_named(name: str) -> Release:
    """The release; raises CommandError, which lists existing names."""
    return _named(Release, "name", name, "release")


def account_named(name: str) -> User:
    """The account with this user name; raises CommandError."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"No account is called {name!r}.")
    return user


def team_named(slug: str | None) -> Team | None:
    """The team of the option --team, or None without it; raises CommandError, which lists existing
    names."""
    return _named(Team, "slug", slug, "team") if slug is not None else None


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names, and the number of further ones."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def _named(model: type[Named], field: str, value: str, noun: str) -> Named:
    rows = model._default_manager
    found = rows.filter(**{field: value}).first()
    if found is None:
        names = ", ".join(rows.values_list(field, flat=True)[:20]) or "none"
        raise CommandError(f"There is no {noun} {value!r}. Existing names: {names}.")
    return found
