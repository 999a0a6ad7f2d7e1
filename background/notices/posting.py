"""Send one signed request to a webhook."""

import base64
import hashlib
import hmac
import http.client
from collections.abc import Mapping

from background.outgoing.addresses import AddressRefused
from background.outgoing.exchange import exchange

PREFIX = "whsec_"
MOST_READ = 65_536


class NotDelivered(Exception):
    """The webhook did not accept the request; the message says why."""


def signature(secret: str, key: str, timestamp: int, body: bytes) -> str:
    """The signature of the Standard Webhooks specification: HMAC-SHA256 of id, time and body."""
    signed = f"{key}.{timestamp}.".encode() + body
    raw = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float,
    allows_private: bool = False,
) -> None:
    """Send the body; raises NotDelivered unless the answer is 2xx within so many seconds."""
    try:
        answer = exchange(
            url,
            method="POST",
            body=body,
            headers=headers,
            seconds=seconds,
            most_bytes=MOST_READ,
            allows_private=allows_private,
        )
    except AddressRefused as error:
        raise NotDelivered(str(error)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = str(error) or type(error).__name__
        raise NotDelivered(f"No answer: {reason[:300]}") from error
    if 300 <= answer.status < 400:
        raise NotDelivered(
            f"The answer was a redirect ({answer.status}) to {answer.location[:200]}. Redirects "
            "are not followed: enter the final address."
        )
    if not 200 <= answer.status < 300:
        raise NotDelivered(f"The answer was {answer.status}.")
