"""The Celery application: what runs by the clock, and what runs behind a page's back."""

import os

from celery import Celery
from celery.schedules import crontab
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

app = Celery("annotate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_finalize.connect
def set_beat_schedule(sender: Celery, **_: object) -> None:
    """The clock: each task sweeps up what its rows say is due, so a missed tick loses nothing."""
    sender.conf.beat_schedule = {
        "sync": {"task": "hits.tasks.sync_campaigns", "schedule": settings.SYNC_SECONDS},
        "copies": {"task": "annotate.tasks.make_copies", "schedule": 300.0},
        # At a time of day: an interval would begin anew each time that beat is started.
        "tidy": {"task": "hits.tasks.tidy", "schedule": crontab(hour=3, minute=20)},
    }
