"""Issuing, using and withdrawing API tokens."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotate.errors import DomainError
from annotate.models import ApiToken
from annotate.models.tokens import HINT_CHARACTERS
from annotate.services.retention import delete_in_batches

# For scripts that ask for a token each time they run.
MOST_TOKENS = 100
USE_NOTED_EVERY = timedelta(hours=1)
KEPT_AFTER_ITS_END = timedelta(days=30)


class TokenRefused(DomainError):
    """The token is unknown, has expired or was withdrawn."""


@transaction.atomic
def issue_token(
    *, user: User, at: datetime, name: str = "", days: int | None = None
) -> tuple[ApiToken, str]:
    """A new token of the user, and its text, which cannot be had again. It lasts `days`, at most
    and by default API_TOKEN_DAYS. Of more than MOST_TOKENS the oldest is withdrawn."""
    User.objects.select_for_update().get(pk=user.pk)
    valid = ApiToken.objects.valid(at).filter(user=user)
    too_many = valid.order_by("-created_at", "-pk").values_list("pk", flat=True)[MOST_TOKENS - 1 :]
    ApiToken.objects.filter(pk__in=list(too_many)).update(withdrawn_at=at)
    text = secrets.token_urlsafe(32)
    lifetime = timedelta(days=min(days or settings.API_TOKEN_DAYS, settings.API_TOKEN_DAYS))
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=_digest(text),
        hint=text[:HINT_CHARACTERS],
        created_at=at,
        expires_at=at + lifetime,
    )
    return token, text


def use_token(*, text: str, at: datetime) -> ApiToken:
    """The valid token with this text, with its user; raises TokenRefused."""
    found = ApiToken.objects.valid(at).select_related("user").filter(digest=_digest(text)).first()
    if found is None:
        raise TokenRefused("This API token is unknown, has expired or was withdrawn.")
    if found.last_used_at is None or found.last_used_at <= at - USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=found.pk).update(last_used_at=at)
    return found


def withdraw_token(*, token: ApiToken, at: datetime) -> None:
    """End the token now; raises TokenRefused if it has ended already."""
    if not ApiToken.objects.valid(at).filter(pk=token.pk).update(withdrawn_at=at):
        raise TokenRefused(f"The token {token} has expired or was withdrawn already.")


def withdraw_all_tokens(*, user: User, at: datetime) -> int:
    """End all valid tokens of the user; returns how many there were."""
    return ApiToken.objects.valid(at).filter(user=user).update(withdrawn_at=at)


def delete_old_tokens(*, at: datetime) -> int:
    """Delete tokens that expired some time ago, withdrawn or not; returns how many."""
    return delete_in_batches(ApiToken.objects.filter(expires_at__lt=at - KEPT_AFTER_ITS_END))


def _digest(text: str) -> str:
    # A token is random throughout, so that a plain digest cannot be searched for as a password's.
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
