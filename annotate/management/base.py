"""The base class of our commands, functions that find objects by name, and reports of imports."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from tqdm import tqdm

from accounts.models import Team
from annotate.kinds.reading import CampaignFileError
from annotate.models import Campaign, Release
from annotate.queries.releases import unknown_classes
from annotate.services import images
from corpora.errors import DomainError, one_line
from corpora.selection.domains import PRESETS, DomainTable, table_named
from corpora.wording import counted
from shared.number_fields import HOW, AmountField

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

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print what a function of `corpora.commands` yields."""
        for line in lines:
            self.stdout.write(line)

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


def add_owner_options(parser: CommandParser) -> None:
    """Add the options of a command that imports: --team and --change-published."""
    add_team_option(parser, "that owns what is imported (default: all teams share it)")
    parser.add_argument(
        "--change-published",
        action="store_true",
        help="also change what published campaigns show, which are otherwise left as they were "
        "published",
    )


def dollars(text: str) -> Decimal:
    """An amount that was given to a command; raises CommandError if it is none."""
    try:
        amount: Decimal = AmountField().clean(text)
    except ValidationError:
        raise CommandError(f"{text} is not an amount of dollars. {HOW}") from None
    return amount


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


def add_export_arguments(parser: CommandParser, out: str = "folder to write to") -> None:
    """Add the release and the option --out of a command that writes its files."""
    parser.add_argument("release", metavar="RELEASE", help="name of the release")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)


def release_named(name: str, kind: str = "") -> Release:
    """The release; raises CommandError, which lists existing names, also if a kind of task is given
    and the release is of another one."""
    found = _named(Release, "name", name, "release")
    if kind and found.campaign.kind != kind:
        raise CommandError(f"{found} is a release of the task type {found.campaign.kind}.")
    return found


def captions_file(name: str) -> Path | None:
    """The path of a captions file, if that is what was given and not the name of a release."""
    path = Path(name)
    return path if path.is_file() or path.suffix == ".json" else None


def account_named(name: str) -> User:
    """The account with this user name; raises CommandError."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"No account is called {name!r}.")
    return user


def active_account_named(name: str) -> User:
    """The account with this user name if it is not closed; raises CommandError."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active account {name!r}.")
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


BROKEN_NAMED = 20


def import_image_files(
    folder: Path, split: str, *, team: Team | None, change_published: bool
) -> str:
    """Import a folder's image files with a progress bar; return the report's lines as text."""
    with tqdm(total=len(images.files_below(folder)), unit=" files", disable=None) as bar:
        counts = images.import_files(
            folder=folder,
            split=split,
            team=team,
            change_published=change_published,
            progress=bar.update,
        )
    files = counted(counts.new + counts.changed + counts.unchanged, "image file")
    lines = [f"{files}: {counts.new} new, {counts.changed} changed, {counts.unchanged} unchanged."]
    if counts.unmatched:
        one, many = "file does not belong to any image of", "files do not belong to any image of"
        lines.append(f"{counted(counts.unmatched, one, many)} {split}.")
    if counts.broken:
        one, many = "file could not be imported:", "files could not be imported:"
        lines.append(counted(len(counts.broken), one, many))
        lines += [f"  {name}: {reason}" for name, reason in counts.broken[:BROKEN_NAMED]]
        if more := counts.broken[BROKEN_NAMED:]:
            lines.append(f"  and {len(more)} more")
    return "\n".join(lines)
