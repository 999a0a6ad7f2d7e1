"""Run the clock's entries in threads of this process, where there is no Celery beat.

The list is Celery's `beat_schedule`. Each entry has its own thread, so what takes long delays
nothing else.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from celery import current_app
from celery.schedules import maybe_schedule
from django.utils import timezone

from background.jobs.work import WorkerStopped
from background.tasks import EXPECTED
from shared.repeater import Repeater

# Seconds between two looks whether an entry is due.
LOOKS_EVERY = 1.0
# An entry that was never done is due.
LONG_AGO = timedelta(days=2)


class Entry:
    """An entry of the list, and when it was last done."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        self._task = current_app.tasks[entry["task"]]
        self._schedule: Any = maybe_schedule(entry["schedule"])
        self._done_at = timezone.now() - LONG_AGO

    def do_if_due(self) -> None:
        """Do the task in this thread. If it fails, it stays due."""
        # A clock that was put back must not stop the task until it has caught up.
        self._done_at = min(self._done_at, timezone.now())
        if not self._schedule.is_due(self._done_at).is_due:
            return
        try:
            self._task()
        except WorkerStopped:
            return
        self._done_at = timezone.now()


def entries() -> list[Repeater]:
    """A thread for each entry, not started."""
    current_app.loader.import_default_modules()
    current_app.finalize()
    return [
        Repeater(name, Entry(entry).do_if_due, every=LOOKS_EVERY, known=EXPECTED)
        for name, entry in current_app.conf.beat_schedule.items()
    ]
