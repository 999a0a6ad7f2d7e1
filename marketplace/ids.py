"""Random public identifiers in the forms that Mechanical Turk's model demands."""

import secrets
import string

_ALPHABET = string.ascii_uppercase + string.digits
ENTITY_ID_LENGTH = 30
WORKER_ID_LENGTH = 14


def _characters(count: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(count))


def entity_id() -> str:
    """An id for a HIT, HIT type, assignment or qualification type."""
    return "3" + _characters(ENTITY_ID_LENGTH - 1)


def worker_id() -> str:
    """An id for a worker."""
    return "A" + _characters(WORKER_ID_LENGTH - 1)


def access_key() -> str:
    """An access key's public half, in the form that AWS clients expect."""
    return "AKIA" + _characters(16)


def secret_key() -> str:
    """An access key's secret half."""
    return secrets.token_urlsafe(30)
