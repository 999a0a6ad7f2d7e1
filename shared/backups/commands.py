"""The commands that both sites have for backups, under a name of each."""

from datetime import datetime
from pathlib import Path
from socket import gethostname
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from shared.backups.files import BackupRefused, Written, restore_backup, write_backup
from shared.backups.models import BackupRun


class BackupCommand(BaseCommand):
    """Writes a backup and records it; `media` is the folder of the site's files, if it has any."""

    help = (
        "Write the site's database and files to a new folder, while the site runs, and read them "
        "back."
    )
    requires_system_checks: tuple[str, ...] = ()
    media: Path | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the backup")

    def handle(self, *, folder: Path, **_: Any) -> None:
        at, written = timezone.now(), Written()
        try:
            written = write_backup(folder, media=self.media, at=at)
        except (BackupRefused, OSError) as error:
            self._record(folder, written, at, str(error))
            raise CommandError(str(error)) from error
        self._record(folder, written, at, "")
        self.stdout.write(f"The backup is in {folder}. It was read back without errors.")

    def _record(self, folder: Path, written: Written, at: datetime, error: str) -> None:
        """Store what the operators' page shows. A backup does not fail for want of its record."""
        try:
            BackupRun.objects.create(
                started_at=at,
                ended_at=max(at, timezone.now()),
                host=gethostname(),
                folder=str(folder.resolve()),
                error=error,
                **written._asdict(),
            )
        except DatabaseError as failure:
            self.stderr.write(f"The page of backups does not show this one: {failure}")


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
