"""API tokens."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

HINT_CHARACTERS = 6


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self, at: datetime) -> Self:
        """Tokens that are accepted at this time."""
        return self.filter(withdrawn_at=None, expires_at__gt=at, user__is_active=True)


class ApiToken(models.Model):
    """A user's token for the API, valid until it expires or is withdrawn.

    Its text is shown once and not stored; only a digest is.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, blank=True, help_text="what the token is for")
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=HINT_CHARACTERS, help_text="how the token begins")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # Up to an hour out of date, so that not every request writes.
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = "API token"
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")), name="api_token_ends_after_it_begins"
            ),
        ]
        indexes = [models.Index(fields=["expires_at"], name="api_token_by_end")]

    def __str__(self) -> str:
        return f"{self.hint}…"
