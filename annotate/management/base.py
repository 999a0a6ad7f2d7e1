"""What commands of campaigns and releases share: options, lookups by name, reports of imports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser, OutputWrapper
from tqdm import tqdm

from accounts.management.base import DomainCommand, add_team_option, named
from accounts.models import Team
from annotate.models import Campaign, Release
from annotate.queries.releases import unknown_classes
from annotate.services import images
from corpora.reading.files import is_file, is_json
from corpora.selection.domains import PRESETS, DomainTable, table_named
from corpora.wording import counted


class CorporaCommand(DomainCommand):
    """A command of `python -m corpora` that needs no database."""

    uses_database = False
    module: Any

    def add_arguments(self, parser: CommandParser) -> None:
        self.module.add_arguments(parser)

    def handle(self, **options: Any) -> None:
        self.print_lines(self.module.run(**options))


def add_domains_option(parser: CommandParser) -> None:
    """Add the option --domains, which `table_of_domains` reads."""
    parser.add_argument(
        "--domains",
        metavar="TABLE",
        help=f"compute domains by another table than the release's: {', '.join(PRESETS)}, or the "
        "path of a CSV file with the columns class and domain",
    )


def table_of_domains(name: str | None, warnings: OutputWrapper) -> DomainTable | None:
    """The table that the option --domains names; None without the option.

    Writes a warning of the table's classes that no dataset has. Raises DomainError.
    """
    if name is None:
        return None
    table = table_named(name)
    if unknown := unknown_classes(table):
        warnings.write(f"Warning: no imported dataset has {listed(unknown)}, which {name} lists.")
    return table


def add_owner_options(parser: CommandParser) -> None:
    """Add the options of a command that imports: --team and --change-published."""
    add_team_option(parser, "that owns what is imported (default: all teams share it)")
    parser.add_argument(
        "--change-published",
        action="store_true",
        help="also change what published campaigns show, which are otherwise left as they were "
        "published",
    )


def campaign_named(slug: str) -> Campaign:
    """The campaign; raises CommandError, which lists existing names."""
    return named(Campaign, "slug", slug, "campaign")


def add_export_arguments(parser: CommandParser, out: str = "folder to write to") -> None:
    """Add the release and the option --out of a command that writes its files."""
    parser.add_argument("release", metavar="RELEASE", help="name of the release")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=out)


def release_named(name: str, kind: str = "") -> Release:
    """The release; raises CommandError, which lists existing names, also if a kind of task is given
    and the release is of another one."""
    release = named(Release, "name", name, "release")
    if kind and release.campaign.kind != kind:
        raise CommandError(f"{release} is a release of the task type {release.campaign.kind}.")
    return release


def captions_file(name: str) -> Path | None:
    """The path of a captions file, if that is what was given and not the name of a release."""
    path = Path(name)
    return path if is_file(path) or is_json(path) else None


def listed(names: Sequence[str], most: int = 20) -> str:
    """The first names, and the number of further ones."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


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
