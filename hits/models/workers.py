"""Workers' accounts at the marketplace, and messages to them."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign, Worker

# Workers are told of a verdict only then, so that a reviewer can take it back before.
TOLD_AFTER = timedelta(hours=1)


class WorkerAccount(models.Model):
    """A worker's id at one endpoint.

    The id is personal data. Only this table and TaskPage store it. When it is deleted, a text that
    nobody can turn back into the id takes its place (`hits.services.accounts`).
    """

    worker = models.OneToOneField(Worker, models.PROTECT, related_name="account")
    endpoint = models.CharField(max_length=300)
    marketplace_id = models.CharField(max_length=64)
    id_deleted_at = models.DateTimeField(null=True, blank=True)
    # Who erased the worker's data on request. Null for the schedule and for a command.
    erased_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["endpoint", "marketplace_id"], name="worker_account_once_per_endpoint"
            ),
        ]

    def __str__(self) -> str:
        return str(self.worker)


class WorkerMessage(models.Model):
    """A message to workers. It is stored before it is sent."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="worker_messages")
    # The key of the request, so that a form that is sent twice makes one message.
    key = models.CharField(max_length=64, unique=True)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    # Empty if the campaign tells workers by itself.
    sender = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="worker_messages",
    )
    planned_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(subject="") & ~Q(text=""), name="worker_message_says_something"
            ),
        ]

    def __str__(self) -> str:
        return self.subject


class MessageStatus(models.TextChoices):
    PLANNED = "PLANNED", "waits for the next sync"
    SENDING = "SENDING", "sent, or not: the outcome is not known"
    SENT = "SENT", "sent"
    NOT_REACHED = "NOT_REACHED", "the marketplace did not reach the worker"


class MessageRecipient(models.Model):
    """A worker to whom a message is sent, at most once."""

    message = models.ForeignKey(WorkerMessage, models.PROTECT, related_name="recipients")
    account = models.ForeignKey(WorkerAccount, models.PROTECT, related_name="messages")
    status = models.CharField(max_length=11, choices=MessageStatus, default=MessageStatus.PLANNED)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "account"], name="message_recipient_once"),
            models.CheckConstraint(
                condition=Q(status=MessageStatus.SENT, sent_at__isnull=False)
                | (~Q(status=MessageStatus.SENT) & Q(sent_at=None)),
                name="message_recipient_sent_at_matches_status",
            ),
        ]
        indexes = [
            models.Index(
                fields=["message"],
                name="message_recipient_planned",
                condition=Q(status=MessageStatus.PLANNED),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.message} to {self.account} ({self.status.lower()})"
