"""Notices: what people are told by e-mail and webhook, who chose what, and each delivery."""

import base64
import secrets
import uuid
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from accounts.models.teams import Team
from background.models.about import About
from shared.database.queues import Queued

SECRET_PREFIX = "whsec_"


def new_secret() -> str:
    """A random secret in the form of the Standard Webhooks specification."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()


class NoticeQuerySet(models.QuerySet["Notice"]):
    def open(self) -> Self:
        """Notices of states that continue, and of single events."""
        return self.filter(over_at=None)


class Notice(About):
    """An event or state that people are told of once.

    `subject` says what it is about, so that a restart or a second process adds no other row. When a
    state is over, `over_at` is set, and the state can be noticed again.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.SlugField(max_length=40, help_text="a name in background.notices.registry")
    subject = models.CharField(max_length=200)
    # Null for what only operators, or only the user who asked for it, may see.
    team = models.ForeignKey(Team, models.CASCADE, related_name="notices", null=True)
    title = models.CharField(max_length=200)
    text = models.TextField()
    path = models.CharField(max_length=300, help_text="the page to open")
    noticed_at = models.DateTimeField()
    over_at = models.DateTimeField(null=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-noticed_at", "-pk"]
        indexes = [
            models.Index(fields=["kind", "subject", "noticed_at"], name="notice_by_subject"),
            models.Index(fields=["about_type", "about_id", "-noticed_at"], name="notice_by_topic"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"], condition=Q(over_at=None), name="notice_open_once"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def url(self) -> str:
        return f"{settings.SITE_URL}{self.path}"


class NoticeChoice(models.Model):
    """Whether a user wants e-mails of a kind. Without a row, the kind's default applies."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="choices")
    kind = models.SlugField(max_length=40)
    is_on = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="notice_choice_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.kind} {'on' if self.is_on else 'off'}"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def kept(self) -> Self:
        """Without those that were removed."""
        return self.filter(removed_at=None)

    def wanting(self, kind: str) -> Self:
        """Webhooks that are on and get notices of this kind."""
        # JSON lookups differ between databases, and a campaign has few webhooks.
        keys = [hook.pk for hook in self.kept().filter(is_on=True) if kind in hook.kinds]
        return self.filter(pk__in=keys)


class Webhook(About):
    """An address that gets notices about a campaign as signed HTTP requests."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, default=new_secret, editable=False)
    kinds = models.JSONField(default=list, help_text="names of the kinds of notices that it gets")
    is_on = models.BooleanField(default=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True
    )
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["about_type", "about_id", "url"],
                condition=Q(removed_at=None),
                name="webhook_address_once_per_campaign",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        campaign: Any = self.about
        return f"{campaign.get_absolute_url()}webhooks/{self.key}/"


class DeliveryStatus(models.TextChoices):
    WAITING = "WAITING"
    SENT = "SENT"
    GIVEN_UP = "GIVEN_UP", "given up"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self, at: datetime) -> Self:
        """Deliveries to try now, in their order."""
        return self.filter(status=DeliveryStatus.WAITING, due_at__lte=at).order_by("due_at", "pk")


class Delivery(Queued):
    """One notice for one person or one webhook, and what became of it."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="deliveries", null=True
    )
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries", null=True)
    status = models.CharField(max_length=8, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    ended_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True, help_text="why the last attempt failed")

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(status="WAITING"), name="delivery_due"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, webhook__isnull=False) | Q(user__isnull=False, webhook=None),
                name="delivery_to_a_user_or_a_webhook",
            ),
            models.UniqueConstraint(fields=["notice", "user"], name="delivery_once_per_user"),
            models.UniqueConstraint(fields=["notice", "webhook"], name="delivery_once_per_webhook"),
            models.CheckConstraint(
                condition=Q(status="WAITING", ended_at=None)
                | ~Q(status="WAITING") & Q(ended_at__isnull=False),
                name="delivery_end_matches_status",
            ),
            models.CheckConstraint(
                condition=~Q(status="GIVEN_UP") | ~Q(error=""), name="delivery_given_up_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.notice} to {self.webhook or self.user}"
