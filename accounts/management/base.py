"""The base class of our commands, and functions that find objects by name."""

from collections.abc import Iterable
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from accounts.models import Team
from corpora.errors import DomainError, one_line
from corpora.reading.files import short

Named = TypeVar("Named", bound=Model)


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
        except DomainError as error:
            raise CommandError(str(error)) from error
        except UnicodeEncodeError as error:
            # Bytes of the command line or of the input that the terminal's encoding does not have.
            raise CommandError(f"{short(error.object)} is not UTF-8 text.") from error
        except (InterfaceError, OperationalError) as error:
            raise CommandError(f"The database failed: {one_line(error)}") from error

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print what a function of `corpora.commands` yields."""
        for line in lines:
            self.stdout.write(line)


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


def add_team_option(parser: CommandParser, help: str) -> None:
    """Add the option --team, whose value `team_named` takes."""
    parser.add_argument("--team", metavar="SLUG", help=f"short name of the team {help}")


def account_named(name: str) -> User:
    """The account with this user name; raises CommandError."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"No account is called {name!r}.")
    return user


def active_account_named(name: str) -> User:
    """The account with this user name if it is not closed; raises CommandError."""
    user = account_named(name)
    if not user.is_active:
        raise CommandError(f"The account {name!r} is closed.")
    return user


def team_named(slug: str | None) -> Team | None:
    """The team of the option --team, or None without it; raises CommandError, which lists existing
    names."""
    return named(Team, "slug", slug, "team") if slug is not None else None


def named(model: type[Named], field: str, value: str, noun: str) -> Named:
    """The row with this name; raises CommandError, which lists existing names."""
    rows = model._default_manager
    row = rows.filter(**{field: value}).first()
    if row is None:
        names = ", ".join(rows.values_list(field, flat=True)[:20]) or "none"
        raise CommandError(f"There is no {noun} {value!r}. Existing names: {names}.")
    return row
