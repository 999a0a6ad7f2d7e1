"""The requester site's domain and its Django project package."""

from annotate.celery import app as celery_app

__all__ = ["celery_app"]
