"""What is sent to workers: messages and bonuses."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotate.models import Campaign
from hits.models.accounts import WorkerAccount
from hits.models.hits import Assignment


class WorkerMessage(models.Model):
    """A message to workers. It is stored before it is sent."""

    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="worker_messages")
    # The key of the request, so that a form that is sent twice makes one message.
    key = models.CharField(max_length=64, unique=True)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sender = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="worker_messages"
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


class Bonus(models.Model):
    """A payment beyond the reward. It is stored before it is sent, and sent only once."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    token = models.CharField(max_length=64, unique=True)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    fee = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.CharField(max_length=1024)
    planned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_is_positive"),
            models.CheckConstraint(condition=~Q(reason=""), name="bonus_has_a_reason"),
        ]

    def __str__(self) -> str:
        return f"${self.amount} for {self.assignment}"
