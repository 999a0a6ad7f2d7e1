"""Teams, their members with roles, and what each role may do; API tokens; idempotency keys.

A team owns campaigns, and with them their tasks, responses and releases; it also owns selections,
caption sets, and the images and classes that it imports. Images and classes without a team are
shared: everybody sees them, and only an operator changes them.
"""

import hashlib
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Exists, F, OuterRef, Q

Row = TypeVar("Row", bound=models.Model)
FIRST_TEAM = "default"
FIRST_TEAM_NAME = "Default team"


def digest_of(text: str) -> str:
    """The digest that is stored instead of a token's or a link's text."""
    # A slow password hash is not needed: the text has 256 random bits and cannot be guessed.
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


class Right(StrEnum):
    """What a page or an API call needs. The values complete “may not …” in messages."""

    VIEW = "open this page"
    SEE_MONEY = "see amounts of money"
    REVIEW = "review or decide about workers"
    MANAGE = "change campaigns"
    PAY = "decide about payments"
    MEMBERS = "invite members or change their roles"


class TeamRole(models.TextChoices):
    RESEARCHER = "RESEARCHER", "researcher"
    REVIEWER = "REVIEWER", "reviewer"
    VIEWER = "VIEWER", "viewer"


RIGHTS = {
    TeamRole.RESEARCHER: frozenset(Right),
    TeamRole.REVIEWER: frozenset({Right.VIEW, Right.REVIEW}),
    TeamRole.VIEWER: frozenset({Right.VIEW, Right.SEE_MONEY}),
}


def roles_with(right: Right) -> list[TeamRole]:
    return [role for role, rights in RIGHTS.items() if right in rights]


class TeamQuerySet(models.QuerySet["Team"]):
    def of(self, user: Any) -> Self:
        """The teams whose rows the user may see: all of them for an operator."""
        if not user.is_active:
            return self.none()
        if user.is_superuser:
            return self
        return self.filter(pk__in=Membership.objects.current().filter(user=user).values("team"))


class Team(models.Model):
    """People who share campaigns. Members of other teams see nothing of them."""

    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def current(self) -> Self:
        """Without those that have ended."""
        return self.filter(ended_at=None)

    def researchers(self) -> Self:
        """Current members of a team who can sign in and may change everything of it."""
        return self.current().filter(role=TeamRole.RESEARCHER, user__is_active=True)


class Membership(models.Model):
    """A user's role in a team, until it ends."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=TeamRole)
    joined_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "team"], condition=Q(ended_at=None), name="member_of_a_team_once"
            ),
            models.CheckConstraint(
                condition=Q(role__in=TeamRole.values), name="membership_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=models.F("joined_at")),
                name="membership_ends_after_it_began",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.get_role_display()} of {self.team}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self, at: datetime) -> Self:
        """Those that can still be accepted, as their creators may still invite."""
        # Without a join, so that an update checks its row again after it has waited for another.
        inviting = User.objects.filter(
            Q(is_superuser=True)
            | Q(
                memberships__team=OuterRef("team"),
                memberships__ended_at=None,
                memberships__role__in=roles_with(Right.MEMBERS),
            ),
            pk=OuterRef("created_by"),
            is_active=True,
        )
        return self.filter(Exists(inviting), accepted_at=None, revoked_at=None, expires_at__gt=at)


class Invitation(models.Model):
    """A link that makes one person a member of a team. Its text is shown once and not stored."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=TeamRole)
    note = models.CharField(max_length=100, blank=True, help_text="whom it is for")
    email = models.EmailField(blank=True, help_text="where the link was sent, if by e-mail")
    digest = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=TeamRole.values), name="invitation_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(accepted_at=None, accepted_by=None)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False, revoked_at=None),
                name="invitation_accepted_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return f"invitation of a {self.get_role_display()} to {self.team}"


class TeamChange(models.Model):
    """An entry of a team's log: who changed what, and when.

    Database triggers refuse changes (`shared.database.triggers`).
    """

    team = models.ForeignKey(Team, models.PROTECT, related_name="changes")
    # Null if a command did it.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="team_changes", null=True, blank=True
    )
    at = models.DateTimeField()
    text = models.CharField(max_length=300)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.text


class TeamRows(models.QuerySet[Row]):
    """Rows that belong to a team; `team_path` leads from the row to its team."""

    team_path = "team"

    def visible_to(self, user: Any) -> Self:
        """The rows of the user's teams: all for an operator, none for a stranger."""
        return self if user.is_superuser and user.is_active else self.filter(self._seen_by(user))

    def of_team(self, team: Team | None) -> Self:
        """The rows of one team; none without a team."""
        return self.filter(**{self.team_path: team}) if team else self.none()

    def _seen_by(self, user: Any) -> Q:
        return Q(**{f"{self.team_path}__in": Team.objects.of(user).values("pk")})


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


class IdempotencyKey(models.Model):
    """The key that a program gave to a request, or a page to its form, and the answer that it got.

    A program's key is written in the transaction of the request, so that the two stand or fall
    together. A form's key is written before the form is carried out (`accounts.pages.once`).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotency_keys"
    )
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="of the request's address and body")
    # Null until the request is answered.
    status = models.PositiveSmallIntegerField(null=True)
    body = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once_per_user"),
        ]
        indexes = [models.Index(fields=["created_at"], name="idempotency_key_by_age")]

    def __str__(self) -> str:
        return f"idempotency key {self.pk}"
