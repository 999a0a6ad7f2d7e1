"""API tokens and their scopes."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from accounts.models.teams import Right

HINT_CHARACTERS = 6


class Scope(models.TextChoices):
    """What a token may do, as far as its account's role allows it."""

    READ = "read", "read everything that you may see"
    REVIEW = "review", "judge responses, and exclude or pause workers"
    RUN = "run", "create, publish and change campaigns and what they need; submit to challenges"
    PAY = "pay", "pay bonuses and add to budgets"

    @classmethod
    def for_right(cls, right: Right) -> "Scope":
        """The scope that a request with this right needs."""
        return SCOPES[right]


# No request of the API needs Right.MEMBERS.
SCOPES = {
    Right.VIEW: Scope.READ,
    Right.SEE_MONEY: Scope.READ,
    Right.REVIEW: Scope.REVIEW,
    Right.MANAGE: Scope.RUN,
    Right.PAY: Scope.PAY,
}


def all_scopes() -> list[str]:
    """What a token may do that was created without a choice."""
    return list(Scope.values)


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
    scopes = models.JSONField(default=all_scopes, help_text="values of Scope, in their order")
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
