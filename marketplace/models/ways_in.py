"""How workers come to have an account, and what keeps strangers out of it."""

from datetime import datetime
from typing import Self

from django.db import models

from .accounts import Worker


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def good_at(self, at: datetime) -> Self:
        return self.filter(expires_at__gt=at, uses_left__gt=0)


class Invitation(models.Model):
    """Leave to make a number of accounts, until a time."""

    uses_left = models.PositiveIntegerField()
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField()

    objects = InvitationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ExternalIdentity(models.Model):
    """Who a worker is at another site; the one place where that site's id is kept."""

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
    """A signed link of another site that was followed; forgotten once it is too old anyway."""

    # The link's own: no two links share it.
    signature = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"used link {self.pk}"


class Attempt(models.Model):
    """One try at something that is limited; forgotten when the limit's time is over."""

    # A keyed hash of the account's name or the address: neither can be read from here.
    key = models.CharField(max_length=64)
    made_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["key", "made_at"], name="attempt_by_key"),
            models.Index(fields=["made_at"], name="attempt_by_time"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.pk}"
