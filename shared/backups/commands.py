"""The commands that both sites have for backups, under a name of each."""

from datetime import datetime
from pathlib import Path
from socket import gethostname
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error
from django.utils import timezone

from shared.backups.files import (
    BackupRefused,
    Written,
    delete_older,
    folder_in,
    restore_backup,
    write_backup,
)
from shared.backups.models import BackupRun
from shared.database.connections import drop_lost_connections


class FolderCommand(BaseCommand):
    """A command for a folder with a backup of the database and, if the site has any, its files."""

    requires_system_checks: tuple[str, ...] = ()

    @property
    def media(self) -> Path | None:
        return Path(settings.MEDIA_ROOT) if settings.MEDIA_ROOT else None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the backup")


class BackupCommand(FolderCommand):
    """Writes a backup and records it."""

    help = (
        "Write the site's database and files to a new folder, while the site runs, and read them "
        "back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--keep",
            metavar="N",
            type=int,
            help="make DIR a folder of backups: write one named after the time in it, then delete "
            "all but the newest N of this site's that are named so",
        )

    def handle(self, *, folder: Path, keep: int | None, **_: Any) -> None:
        at, written = timezone.now(), Written()
        parent = folder
        if keep is not None:
            if keep < 1:
                raise CommandError("--keep must be at least 1.")
            folder = folder_in(parent, at)
        try:
            written = write_backup(folder, media=self.media, at=at)
        except (BackupRefused, OSError) as error:
            self._record(folder, written, at, _with_escapes(error))
            raise CommandError(str(error)) from error
        self._record(folder, written, at, "")
        self.stdout.write(
            f"The backup is in {_with_escapes(folder)}. It was read back without errors."
        )
        if keep and (deleted := delete_older(parent, made=folder, keep=keep)):
            self.stdout.write(f"Older backups deleted: {deleted}.")

    def _record(self, folder: Path, written: Written, at: datetime, error: str) -> None:
        """Store what the operators' page shows. A backup does not fail for want of its record."""
        # The connection may have been unused for an hour.
        drop_lost_connections()
        try:
            BackupRun.objects.create(
                started_at=at,
                ended_at=max(at, timezone.now()),
                host=gethostname(),
                folder=_with_escapes(folder.resolve()),
                error=error,
                **written._asdict(),
            )
        except Error as failure:
            self.stderr.write(f"The page of backups does not show this one: {failure}")


def _with_escapes(text: object) -> str:
    """The text with escapes for the bytes of a path that are not UTF-8."""
    return str(text).encode(errors="backslashreplace").decode()


class RestoreCommand(FolderCommand):
    """Restores a backup."""

    help = "Fill an empty database and an empty folder of files from a backup."

    def handle(self, *, folder: Path, **_: Any) -> None:
        try:
            made_at = restore_backup(folder, media=self.media)
        except (BackupRefused, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Restored the backup of {made_at:%Y-%m-%d %H:%M} UTC. Now run `migrate`."
        )
