"""What things to judge go by in addresses, forms and pages: texts that tell nothing about them.

A key hides a number, the same key always the same one, and is known to be ours: a keyed hash of
the number, and the number masked by a keyed hash of that hash (as in SIV, Rogaway and Shrimpton
2006). So neither the order of keys nor their form says whether a worker wrote what is judged.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from django.utils.crypto import constant_time_compare, salted_hmac

HALF = 6  # bytes, of the hash and of the number
KEY = re.compile(r"[\w-]{16}", re.ASCII)


def sealed(number: int, *, campaign: int) -> str:
    """The key that hides the number in a campaign, 16 characters; another in each campaign."""
    body = number.to_bytes(HALF)
    proof = _hash(campaign, "proof", body)
    return urlsafe_b64encode(proof + _masked(campaign, body, proof)).decode()


def opened(key: str, *, campaign: int) -> int:
    """The number that a key of the campaign hides; raises ValueError for any other text."""
    if not KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key")
    parts = urlsafe_b64decode(key)
    proof, body = parts[:HALF], _masked(campaign, parts[HALF:], parts[:HALF])
    if not constant_time_compare(proof, _hash(campaign, "proof", body)):
        raise ValueError(f"{key!r} is no key of this campaign")
    return int.from_bytes(body)


def _masked(campaign: int, body: bytes, proof: bytes) -> bytes:
    """The body masked, or a masked one as it was."""
    mask = _hash(campaign, "mask", proof)
    return bytes(one ^ other for one, other in zip(body, mask, strict=True))


def _hash(campaign: int, purpose: str, value: bytes) -> bytes:
    salt = f"qualcontrol.item_keys {campaign} {purpose}"
    return salted_hmac(salt, value, algorithm="sha256").digest()[:HALF]
