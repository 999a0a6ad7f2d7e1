from pathlib import Path

from django.conf import settings

from shared.backup_commands import BackupCommand


class Command(BackupCommand):
    @property
    def media(self) -> Path:  # type: ignore[override]
        return Path(settings.MEDIA_ROOT)
