"""Invitations, identities at other sites, used links, and attempts that are limited."""

from datetime import datetime
from typing import Self

from django.db import models

from .accounts import Worker


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
