"""What is stored in place of a worker's id that was deleted.

After the retention period it is a keyed digest. It does not reveal the id, but a worker who comes
back or writes with their id is recognised by it. After an erasure on request it is random, and
nothing recognises the worker.
"""

from collections.abc import Iterable

from django.conf import settings
from django.utils.crypto import get_random_string, salted_hmac

KEPT_DIGEST, ERASED = "deleted:", "erased:"
# Hexadecimal digits of a digest; with its prefix it fits into the column.
DIGITS = 48


def digest_of(endpoint: str, marketplace_id: str, *, secret: str | None = None) -> str:
    """The digest that takes the place of this id, by the site's signing key or another one."""
    value = f"{endpoint}\n{marketplace_id}"
    digest = salted_hmac("hits.worker_ids", value, secret=secret, algorithm="sha256")
    return KEPT_DIGEST + digest.hexdigest()[:DIGITS]


def digests_of(endpoint: str, marketplace_ids: Iterable[str]) -> dict[str, str]:
    """The ids by their digests, by the site's signing key and the earlier ones."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return {digest_of(endpoint, one, secret=key): one for one in marketplace_ids for key in keys}


def random_in_place_of_id() -> str:
    return ERASED + get_random_string(32)
