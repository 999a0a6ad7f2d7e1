"""Check what Prolific signs: its hooks, and the addresses by which participants arrive."""

import base64
import hashlib
import hmac
import threading
import time
from typing import Any

import requests
from django.conf import settings
from django.utils.translation import gettext as _
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from marketplace.panels import client
from marketplace.panels.panel import Arrival, PanelRefused, PanelUnclear

TOKEN_PARAMETER = "prolific_token"
ISSUER = "https://www.prolific.com"
# Keys may be kept for a day. An unknown key is looked up at most once in a minute.
KEYS_KEPT, KEYS_ASKED_EVERY = 86_400.0, 60.0


def is_signed_hook(body: bytes, *, timestamp: str, signature: str, now: float) -> bool:
    """Whether a hook's body and timestamp carry the secret's signature, and are recent."""
    secret = settings.PROLIFIC_HOOK_SECRET
    if not secret:
        return False
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    expected = base64.b64encode(digest)
    if not hmac.compare_digest(expected, signature.encode()):
        return False
    try:
        return abs(now - float(timestamp)) <= settings.PROLIFIC_HOOK_AGE.total_seconds()
    except ValueError:
        return False


class _Keys:
    """Prolific's public keys, kept in the process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self.found: KeySet | None = None
        self.asked_at = float("-inf")

    def get(self, *, kid: str) -> KeySet:
        with self.lock:
            age = time.monotonic() - self.asked_at
            is_known = self.found is not None and any(key.kid == kid for key in self.found.keys)
            if self.found is None or age > KEYS_KEPT or (not is_known and age > KEYS_ASKED_EVERY):
                self.found = self._ask()
                self.asked_at = time.monotonic()
            return self.found

    def _ask(self) -> KeySet:
        address = f"{settings.PROLIFIC_API_URL}/.well-known/study/jwks.json"
        try:
            answer = client.new_session().get(address, timeout=client.TIMEOUT)
            answer.raise_for_status()
            return KeySet.import_key_set(answer.json())
        except (requests.RequestException, ValueError, JoseError) as error:
            raise PanelUnclear(_("Prolific's keys could not be read. Try again soon.")) from error


keys = _Keys()


def check_arrival(token: str, *, audience: str, now: float) -> Arrival:
    """Who arrived by the signed address; raises PanelRefused if the token is not valid for it.

    `audience` is the study's address here. Prolific puts the address of the study in `aud`; its
    reference also speaks of the tool's domain, so the address's scheme, host and path count.
    """
    try:
        kid = _header(token).get("kid", "")
        found = jwt.decode(token, keys.get(kid=kid), algorithms=["RS256"])
        claims = found.claims
        registry = jwt.JWTClaimsRegistry(
            now=int(now),
            leeway=30,
            exp={"essential": True},
            iss={"essential": True, "value": ISSUER},
            sub={"essential": True},
        )
        registry.validate(claims)
    except (JoseError, ValueError) as error:
        raise PanelRefused(
            _(
                "The signature of this address is missing, wrong or too old. Go back to Prolific "
                "and open the study again."
            )
        ) from error
    if not _is_for(claims.get("aud"), audience):
        raise PanelRefused(_("This address is signed for another study. Go back to Prolific."))
    values = claims.get("prolific")
    values = values if isinstance(values, dict) else {}
    return Arrival(
        participant=str(values.get("PROLIFIC_PID", "")),
        study=str(values.get("STUDY_ID", "")),
        session=str(claims["sub"]),
    )


def _header(token: str) -> dict[str, Any]:
    return dict(extract_compact(token.encode()).headers())


def _is_for(found: Any, audience: str) -> bool:
    offered = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return any(str(each).partition("?")[0].rstrip("/") == audience for each in offered)
