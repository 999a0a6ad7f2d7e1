"""The Celery application, and what runs when."""

import os
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import setup_logging, worker_init
from django.conf import settings

from config.environment import Environment
from corpora.language import english
from shared.environment import read, settings_in_words
from shared.metrics import serve_metrics

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Each process of the site imports this module before its settings.
with settings_in_words():
    read(Environment)

app = Celery("annotate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_finalize.connect
def set_clock(sender: Celery, **_: object) -> None:
    """List what runs when: for Celery beat, and without a broker for `background.clock`.

    Each task finds its work in the database, so a missed run is harmless.
    """
    sender.conf.beat_schedule = {
        "sync": _every(settings.SYNC_SECONDS, "hits.tasks.sync_campaigns"),
        # Publications and syncs that people asked for do not wait behind longer jobs.
        "requested syncs": _every(2, "hits.tasks.sync_requested"),
        "jobs": _every(5, "background.tasks.work_next"),
        "scores": _every(5, "leaderboard.tasks.score_next"),
        "notices": _every(60, "background.tasks.find_notices"),
        "deliveries": _every(5, "background.tasks.send_notices"),
        "copies": _every(300, "annotate.tasks.make_copies"),
        "unknown HITs": _every(3600, "hits.tasks.close_unknown_hits"),
        # A time of day, because an interval starts again whenever beat is restarted.
        "tidy": {"task": "hits.tasks.tidy", "schedule": crontab(hour=3, minute=20)},
    }


def _every(seconds: float, task: str) -> dict[str, Any]:
    # Messages that wait longer are dropped, so that they do not pile up while all workers are busy.
    # A minute, because the clocks of two machines may differ by seconds.
    return {"task": task, "schedule": float(seconds), "options": {"expires": max(60, seconds)}}


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Celery's processes log like the site: Celery sets up nothing if somebody handles this."""


@worker_init.connect
def prepare_worker(**_: object) -> None:
    serve_metrics(settings.METRICS_ADDRESS)
    english.load()
