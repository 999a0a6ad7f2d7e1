"""Random public ids in the formats of Mechanical Turk's service model."""

import secrets
import string

_ALPHABET = string.ascii_uppercase + string.digits
ENTITY_ID_LENGTH = 30
WORKER_ID_LENGTH = 14


def _characters(count: int) -> str:
    # One random number whose digits are the characters: a random choice of each takes longer than
    # a query.
    number, base = secrets.randbelow(len(_ALPHABET) ** count), len(_ALPHABET)
    characters = []
    for _ in range(count):
        number, digit = divmod(number, base)
        characters.append(_ALPHABET[digit])
    return "".join(characters)


def entity_id() -> str:
    """A new id for a HIT, HIT type, assignment or qualification type."""
    return "3" + _characters(ENTITY_ID_LENGTH - 1)


def worker_id() -> str:
    """A new id for a worker."""
    return "A" + _characters(WORKER_ID_LENGTH - 1)


def access_key() -> str:
    """A new access key id in the format that AWS clients expect."""
    return "AKIA" + _characters(16)


def secret_key() -> str:
    """A new secret access key."""
    return secrets.token_urlsafe(30)
