"""UniqueRequestToken: a request that is sent twice is carried out once."""

from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace.errors import AlreadyDone
from marketplace.models import Requester, RequestToken


def claim_token(
    *, requester: Requester, operation: str, token: str | None, at: datetime, made: str = ""
) -> None:
    """Record the token in the caller's transaction; raises AlreadyDone if it was used before."""
    if not token:
        return
    key = {"requester": requester, "operation": operation, "token": token}
    try:
        with transaction.atomic():
            RequestToken.objects.create(**key, made=made, used_at=at)
    except IntegrityError:
        outdated = RequestToken.objects.filter(**key, used_at__lte=at - settings.MTURK_TOKEN_LIFE)
        # Only tokens of CreateHIT expire. Bonuses and additional assignments must never be
        # repeated.
        if operation == "CreateHIT" and outdated.update(made=made, used_at=at):
            return
        raise _already_done(RequestToken.objects.get(**key)) from None


def _already_done(used: RequestToken) -> AlreadyDone:
    if used.operation == "CreateHIT":
        return AlreadyDone(
            f'The HIT with ID "{used.made}" already exists.', code="HitAlreadyExists"
        )
    return AlreadyDone(
        f'The idempotency token "{used.token}" has already been processed.',
        code=settings.MTURK_DUPLICATE_TOKEN_CODE,
    )
