"""Notification settings of HIT types, and the queue of events."""

import uuid

from django.db import models
from django.db.models import Q

from shared.database.queues import Queued

from .accounts import Requester
from .hits import HitType


class EventType(models.TextChoices):
    ASSIGNMENT_ACCEPTED = "AssignmentAccepted"
    ASSIGNMENT_ABANDONED = "AssignmentAbandoned"
    ASSIGNMENT_RETURNED = "AssignmentReturned"
    ASSIGNMENT_SUBMITTED = "AssignmentSubmitted"
    ASSIGNMENT_REJECTED = "AssignmentRejected"
    ASSIGNMENT_APPROVED = "AssignmentApproved"
    HIT_CREATED = "HITCreated"
    HIT_EXPIRED = "HITExpired"
    HIT_REVIEWABLE = "HITReviewable"
    HIT_EXTENDED = "HITExtended"
    HIT_DISPOSED = "HITDisposed"
    PING = "Ping"


class NotificationSetting(models.Model):
    """Destination and event types of one HIT type's notifications."""

    hit_type = models.OneToOneField(HitType, models.PROTECT, related_name="notification_setting")
    destination = models.TextField(blank=True, default="")
    transport = models.CharField(max_length=10, blank=True, default="")
    version = models.CharField(max_length=20, blank=True, default="")
    event_types = models.JSONField(default=list)
    is_active = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.transport} {self.destination}"


class Event(Queued):
    """An event to send, stored in the transaction of the change and sent later."""

    document_id = models.UUIDField(default=uuid.uuid4, unique=True)
    requester = models.ForeignKey(Requester, models.PROTECT, related_name="events")
    destination = models.TextField()
    transport = models.CharField(max_length=10)
    version = models.CharField(max_length=20)
    body = models.JSONField()
    happened_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["due_at"], condition=Q(due_at__isnull=False), name="event_still_due"
            ),
            models.Index(fields=["happened_at"], name="event_by_time"),
        ]

    def __str__(self) -> str:
        return str(self.document_id)
