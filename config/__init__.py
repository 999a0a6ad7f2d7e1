"""The requester site's Django project: settings, URLs, WSGI, Celery. Nothing imports it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
