"""The commands that both sites have for backups, under a name of each."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from shared.backups import BackupRefused, restore_backup, write_backup


class BackupCommand(BaseCommand):
    """Writes a backup; `media` is the folder of the site's files, if it has any."""

    help = "Write the site's database and files to a new folder, while the site runs."
    requires_system_checks: tuple[str, ...] = ()
    media: Path | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the backup")

    def handle(self, *, folder: Path, **_: Any) -> None:
        try:
            write_backup(folder, media=self.media, at=timezone.now())
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The backup is in {folder}.")


class RestoreCommand(BaseCommand):
    """Restores a backup; `media` is the folder of the site's files, if it has any."""

    help = "Fill an empty database and an empty folder of files from a backup."
    requires_system_checks: tuple[str, ...] = ()
    media: Path | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the backup")

    def handle(self, *, folder: Path, **_: Any) -> None:
        try:
            made_at = restore_backup(folder, media=self.media)
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored the backup of {made_at:%Y-%m-%d %H:%M} UTC. Now run `migrate`."
        )
