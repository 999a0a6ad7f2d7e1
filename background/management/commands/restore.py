from pathlib import Path

from django.conf import settings

from shared.backups.commands import RestoreCommand


class Command(RestoreCommand):
    @property
    def media(self) -> Path:  # type: ignore[override]
        return Path(settings.MEDIA_ROOT)
