"""Issue, use, withdraw and delete API tokens."""

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from accounts.models import HINT_CHARACTERS, ApiToken, Scope, digest_of
from corpora.errors import DomainError
from shared.database.transactions import delete_in_batches

# How long a token lasts at most, and by default.
MOST_DAYS = 90
# Scripts may ask for a new token on every run, so the number per user is limited.
MOST_TOKENS = 100
# `last_used_at` is updated at most this often, so that most API requests write nothing.
USE_NOTED_EVERY = timedelta(hours=1)
KEPT_AFTER_ITS_END = timedelta(days=30)


class TokenRefused(DomainError):
    """The token is unknown, has expired or was withdrawn."""


@transaction.atomic
def issue_token(
    *,
    user: User,
    at: datetime,
    name: str = "",
    days: int | None = None,
    scopes: Collection[str] = tuple(Scope),
) -> tuple[ApiToken, str]:
    """Create a token for the user; return it with its text, which is not stored.

    Every token may read, regardless of its `scopes`.

    The token lasts `days`, but at most MOST_DAYS, which is also the default. If the user has
    MOST_TOKENS valid tokens, the oldest one is withdrawn.
    """
    User.objects.select_for_update().get(pk=user.pk)
    valid = ApiToken.objects.valid(at).filter(user=user)
    too_many = valid.order_by("-created_at", "-pk").values_list("pk", flat=True)[MOST_TOKENS - 1 :]
    ApiToken.objects.filter(pk__in=list(too_many)).update(withdrawn_at=at)
    text = secrets.token_urlsafe(32)
    lifetime = timedelta(days=min(days or MOST_DAYS, MOST_DAYS))
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest_of(text),
        hint=text[:HINT_CHARACTERS],
        scopes=[scope.value for scope in Scope if scope in {Scope.READ, *scopes}],
        created_at=at,
        expires_at=at + lifetime,
    )
    return token, text


def use_token(*, text: str, at: datetime) -> ApiToken:
    """Return the valid token with this text and record its use; raises TokenRefused."""
    token = ApiToken.objects.valid(at).select_related("user").filter(digest=digest_of(text)).first()
    if token is None:
        raise TokenRefused("This API token is unknown, has expired or was withdrawn.")
    if token.last_used_at is None or token.last_used_at <= at - USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=at)
    return token


def withdraw_token(*, token: ApiToken, at: datetime) -> None:
    """Withdraw the token now; raises TokenRefused if it has expired or was withdrawn."""
    if not ApiToken.objects.valid(at).filter(pk=token.pk).update(withdrawn_at=at):
        raise TokenRefused(f"The token {token} has expired or was withdrawn already.")


def withdraw_all_tokens(*, user: User, at: datetime) -> int:
    """Withdraw all valid tokens of the user; return their number."""
    return ApiToken.objects.valid(at).filter(user=user).update(withdrawn_at=at)


def delete_old_tokens(*, at: datetime) -> int:
    """Delete tokens that expired more than KEPT_AFTER_ITS_END ago; return their number."""
    return delete_in_batches(ApiToken.objects.filter(expires_at__lt=at - KEPT_AFTER_ITS_END))
