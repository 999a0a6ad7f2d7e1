"""The requester site's project package, with its images, campaigns, responses and releases."""

from annotate.celery import app as celery_app

__all__ = ["celery_app"]
