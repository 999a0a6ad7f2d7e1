"""Keys of requests and forms: a repeated one gets the answer that the first one got."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from accounts.models import IdempotencyKey
from corpora.errors import DomainError
from shared.database.transactions import delete_in_batches

KEYS_ARE_KEPT = timedelta(days=1)


class KeyReused(DomainError):
    """The idempotency key belongs to another request."""


@transaction.atomic
def take_key(*, user: User, key: str, digest: str, at: datetime) -> tuple[IdempotencyKey, bool]:
    """Take the key for a request; return its row, and whether the request is new.

    If the caller's transaction includes the request itself, a second request with the key waits
    here until the first has ended: if it succeeded, its answer is returned, and if it failed, the
    second one is new. Raises KeyReused.
    """
    expired = IdempotencyKey.objects.filter(user=user, created_at__lte=at - KEYS_ARE_KEPT)
    expired.filter(key=key).delete()
    taken, is_new = IdempotencyKey.objects.get_or_create(
        user=user, key=key, defaults={"digest": digest, "created_at": at}
    )
    if taken.digest != digest:
        raise KeyReused(
            "This idempotency key was used for another request. Use a new key for each request, "
            "and the same one only to repeat it."
        )
    return taken, is_new


def keep_answer(*, taken: IdempotencyKey, status: int, body: str) -> None:
    """Store the answer to the request of a new key."""
    IdempotencyKey.objects.filter(pk=taken.pk).update(status=status, body=body)


def delete_old_keys(*, at: datetime) -> int:
    """Delete keys older than KEYS_ARE_KEPT; return their number."""
    return delete_in_batches(IdempotencyKey.objects.filter(created_at__lte=at - KEYS_ARE_KEPT))
