"""The Celery application and its schedule."""

import os

from celery import Celery
from celery.schedules import crontab
from celery.signals import worker_init
from django.conf import settings

from annotate.language import english
from shared.monitoring.metrics import serve_metrics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")

app = Celery("annotate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_finalize.connect
def set_beat_schedule(sender: Celery, **_: object) -> None:
    """Schedule the periodic tasks. Each finds its work in the database, so a missed run is
    harmless."""
    sender.conf.beat_schedule = {
        "sync": {"task": "hits.tasks.sync_campaigns", "schedule": settings.SYNC_SECONDS},
        "copies": {"task": "annotate.tasks.make_copies", "schedule": 300.0},
        "jobs": {"task": "annotate.tasks.work_next", "schedule": 60.0},
        "notices": {"task": "annotate.tasks.send_notices", "schedule": 60.0},
        "scores": {"task": "leaderboard.tasks.score_next", "schedule": 60.0},
        # A time of day, because an interval starts again whenever beat is restarted.
        "tidy": {"task": "hits.tasks.tidy", "schedule": crontab(hour=3, minute=20)},
    }


@worker_init.connect
def prepare_worker(**_: object) -> None:
    serve_metrics(settings.METRICS_ADDRESS)
    english.load()
