"""The database tables of this app, one module per topic."""

from background.models.failures import Failure, FailureSource
from background.models.jobs import Job, JobLine, JobStatus
from background.models.notices import Delivery, DeliveryStatus, Notice, NoticeChoice, Webhook

__all__ = [
    "Delivery",
    "DeliveryStatus",
    "Failure",
    "FailureSource",
    "Job",
    "JobLine",
    "JobStatus",
    "Notice",
    "NoticeChoice",
    "Webhook",
]
