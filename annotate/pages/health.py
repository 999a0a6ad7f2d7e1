"""Whether the requester site can do its work."""

from pathlib import Path

from django.conf import settings

from background.gauges import queue_length
from shared.health import check_database, check_folder, check_migrations, readiness


def _check_broker() -> None:
    """Do nothing without a broker: pages then store work that other processes find."""
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        queue_length()


readyz = readiness(
    {
        "database": check_database,
        "migrations": check_migrations,
        "broker": _check_broker,
        "media": lambda: check_folder(Path(settings.MEDIA_ROOT)),
    }
)
