"""Requesters with their keys and balances; workers, and how they sign in; blocks and messages; and
what all processes know of requests: tokens, attempts, calls, sent forms, the activity log."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace import ids
from marketplace.models.fields import MoneyField
from shared.countries import Place


class Requester(models.Model):
    """An account that publishes HITs, identified in the API by an access key."""

    name = models.CharField(max_length=100, unique=True)
    access_key = models.CharField(max_length=40, unique=True, default=ids.access_key)
    # Stored as plain text, because verifying a signature needs the secret itself.
    secret_key = models.CharField(max_length=80, default=ids.secret_key)
    available_balance = MoneyField(default=Decimal("0.00"))
    held_balance = MoneyField(default=Decimal("0.00"))
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="requester_never_overdraws",
                condition=Q(available_balance__gte=0, held_balance__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Worker(models.Model):
    """A person who works on HITs."""

    public_id = models.CharField(max_length=64, unique=True, default=ids.worker_id)
    name = models.CharField(max_length=100, unique=True)
    country = models.CharField(max_length=2, blank=True, default="")
    subdivision = models.CharField(max_length=2, blank=True, default="")
    is_master = models.BooleanField(default=False)
    is_adult = models.BooleanField(default=False)
    # Invited to a group of the operator's own people. Members see the pages for people, and not
    # the list of HITs.
    is_member = models.BooleanField(default=False)
    # Stored numbers, because a worker may have a history from elsewhere. They change in the
    # transaction that changes the assignment.
    approved_count = models.PositiveIntegerField(default=0)
    rejected_count = models.PositiveIntegerField(default=0)
    # A hash; empty for workers who only sign in with links.
    password = models.CharField(max_length=128, blank=True, default="")
    # Sessions and links with a lower number are invalid.
    sign_in_number = models.PositiveIntegerField(default=0)
    # By the operator, for all HITs. A requester's block is a WorkerBlock.
    is_suspended = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # When the personal data was deleted at the worker's request.
    erased_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.public_id

    @property
    def place(self) -> str:
        """The location as text: US, US-PA, or empty."""
        return str(Place(self.country, self.subdivision))


class WorkerBlock(models.Model):
    """A requester's block of a worker, for all of the requester's HITs."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="worker_blocks")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="worker_blocked_once"),
        ]

    def __str__(self) -> str:
        return f"{self.requester} blocks {self.worker}"


class Message(models.Model):
    """A message to a worker, from a requester or from the marketplace on a requester's behalf."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="messages")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["worker", "-id"], name="message_of_worker"),
            models.Index(fields=["sent_at"], name="message_by_time"),
        ]

    def __str__(self) -> str:
        return self.subject


class RequestToken(models.Model):
    """A UniqueRequestToken that a requester used, and what the request created."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="request_tokens")
    operation = models.CharField(max_length=60)
    token = models.CharField(max_length=64)
    # Public id of the object that the request created; empty if it created none with an id.
    made = models.CharField(max_length=64, blank=True, default="")
    used_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="request_token_once"
            ),
        ]
        indexes = [models.Index(fields=["operation", "used_at"], name="request_token_by_time")]

    def __str__(self) -> str:
        return self.token


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def good_at(self, at: datetime) -> Self:
        return self.filter(expires_at__gt=at, uses_left__gt=0)


class Invitation(models.Model):
    """Allows a number of accounts to be created until it expires."""

    uses_left = models.PositiveIntegerField()
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ExternalIdentity(models.Model):
    """A worker's id at another site. It is stored nowhere else."""

    worker = models.ForeignKey(Worker, models.PROTECT, related_name="identities")
    # The name of the panel's id parameter, or "sso".
    source = models.CharField(max_length=64)
    identifier = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "identifier"], name="external_identity_is_one_worker"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} of {self.worker}"


class UsedLink(models.Model):
    """A signed link of another site that was used. Deleted after the link has expired."""

    # Unique for each link.
    signature = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"used link {self.pk}"


class Attempt(models.Model):
    """One attempt at an action with a limit. Deleted when it no longer counts."""

    # A keyed hash of the account name or address, so that neither can be read from the table.
    key = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["key", "made_at"], name="attempt_by_key"),
            models.Index(fields=["made_at"], name="attempt_by_time"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.pk}"


class SiteAccount(models.Model):
    """The account at the requester site that is signed in here as this operator."""

    operator = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="site_account"
    )
    # In small letters: names that differ only in case are one name there.
    name = models.CharField(max_length=150, unique=True)

    def __str__(self) -> str:
        return self.name


class CallAllowance(models.Model):
    """A requester's remaining calls, if the calls per second are limited."""

    requester = models.OneToOneField(Requester, models.CASCADE, related_name="call_allowance")
    remaining = models.FloatField()
    counted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.remaining:.1f} calls"


class Rehearsal(models.Model):
    """The clock, faults and settings that test hooks have set; empty without test hooks."""

    clock_offset = models.DurationField(default=timedelta)
    # Each: operation, kind, times and seconds, as `api.hooks` describes.
    faults = models.JSONField(default=list)
    # Values as given in the request, by the name of the setting.
    settings = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(name="rehearsal_is_one", condition=Q(pk=1))]

    def __str__(self) -> str:
        return f"clock advanced by {self.clock_offset}"


class Activity(models.Model):
    """An action of a requester's program or an operator, or the refusal of one."""

    happened_at = models.DateTimeField()
    actor = models.CharField(max_length=160)
    action = models.CharField(max_length=60)
    about = models.CharField(max_length=200, blank=True, default="")
    # Error code if it was refused, else empty.
    refusal = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        verbose_name_plural = "activities"
        indexes = [models.Index(fields=["happened_at"], name="activity_by_time")]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action}"


class SentForm(models.Model):
    """A form that was sent, so that sending it again does nothing."""

    key = models.UUIDField(unique=True)
    sent_at = models.DateTimeField()
    # Where sending it again leads; empty while it is being carried out.
    location = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["sent_at"], name="sent_form_by_time")]

    def __str__(self) -> str:
        return f"form {self.pk}"
