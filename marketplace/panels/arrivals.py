"""What Prolific signs: the addresses by which participants arrive, and its hooks."""

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import suppress
from typing import Any

import requests
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from marketplace import clock
from marketplace.models import Study
from marketplace.panels import client
from marketplace.panels.models import PanelStudy
from marketplace.panels.panel import PanelRefused, PanelUnclear
from marketplace.panels.services import rounds

TOKEN_PARAMETER = "prolific_token"
ISSUER = "https://www.prolific.com"
# Keys may be kept for a day. An unknown key is looked up at most once in a minute.
KEYS_KEPT, KEYS_ASKED_EVERY = 86_400.0, 60.0
UNREADABLE = gettext_noop("Prolific's keys could not be read. Try again soon.")


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
        self.asked_at = self.read_at = float("-inf")

    def get(self, *, kid: str) -> KeySet:
        with self.lock:
            now = time.monotonic()
            is_known = self.found is not None and any(key.kid == kid for key in self.found.keys)
            if not is_known or now - self.read_at > KEYS_KEPT:
                # Also after a failure: all arrivals wait for each attempt, which may take long.
                if now - self.asked_at > KEYS_ASKED_EVERY:
                    self.asked_at = now
                    self.found, self.read_at = self._ask(), now
                if self.found is None:
                    raise PanelUnclear(_(UNREADABLE))
            assert self.found is not None, "known, or read"
            return self.found

    def _ask(self) -> KeySet:
        address = f"{settings.PROLIFIC_API_URL}/.well-known/study/jwks.json"
        try:
            answer = client.new_session().get(address, timeout=client.TIMEOUT)
            answer.raise_for_status()
            return KeySet.import_key_set(answer.json())
        except (requests.RequestException, ValueError, JoseError) as error:
            raise PanelUnclear(_(UNREADABLE)) from error


keys = _Keys()


def signed_arrival(token: str, *, audience: str, now: float) -> tuple[str, str]:
    """The ids of the participant who arrived by the signed address, and of the study.

    Raises PanelRefused if the token is not valid for the address.

    `audience` is the study's address here. Prolific puts the address of the study in `aud`; its
    reference also speaks of the tool's domain, so the address's scheme, host and path count.
    """
    try:
        kid = extract_compact(token.encode()).headers().get("kid", "")
        decoded = jwt.decode(token, keys.get(kid=kid), algorithms=["RS256"])
        claims = decoded.claims
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
    return str(values.get("PROLIFIC_PID", "")), str(values.get("STUDY_ID", ""))


def _is_for(claim: Any, audience: str) -> bool:
    offered = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    return any(str(address).partition("?")[0].rstrip("/") == audience for address in offered)


TICKET = "ticket"
TICKET_SALT = "marketplace.panel-arrival"
# Seconds in which a participant reads the first page. The panel's own token is valid for two
# minutes only.
TICKET_AGE = 3600


def check_arrival(request: HttpRequest, study: Study, identifier: str) -> dict[str, str]:
    """Check the address of the first page, or the ticket that its form sends back; return the
    form's ticket. Studies that need no signed arrivals have none.

    Raises PanelRefused if the address has no valid signature for this study and participant, or
    the ticket is wrong, and PanelUnclear if the panel's keys cannot be read.
    """
    at_panel = PanelStudy.objects.filter(study=study, is_signed=True).first()
    if at_panel is None:
        return {}
    if request.method == "POST":
        return {TICKET: _checked_ticket(request, study, identifier)}
    return {TICKET: _new_ticket(request, study, identifier, at_panel.external_id)}


def _new_ticket(request: HttpRequest, study: Study, identifier: str, external_id: str) -> str:
    address = settings.MARKETPLACE_URL + reverse("join", args=[study.slug])
    token = request.GET.get(TOKEN_PARAMETER, "")
    arrival = signed_arrival(token, audience=address, now=clock.now().timestamp())
    if arrival != (identifier, external_id):
        raise PanelRefused(_("The ids in this address are not those that Prolific has signed."))
    return signing.dumps([study.slug, identifier], salt=TICKET_SALT)


def _checked_ticket(request: HttpRequest, study: Study, identifier: str) -> str:
    ticket = request.POST.get(TICKET, "")
    with suppress(signing.BadSignature):
        content = signing.loads(ticket, salt=TICKET_SALT, max_age=TICKET_AGE)
        if content == [study.slug, identifier]:
            return ticket
    raise PanelRefused(_("Go back to Prolific, and open the study again."))


@csrf_exempt
@require_POST
def prolific_hook(request: HttpRequest) -> HttpResponse:
    """Let the next round come sooner. A hook's content decides nothing."""
    at = clock.now()
    if not is_signed_hook(
        request.body,
        timestamp=request.headers.get("X-Prolific-Request-Timestamp", ""),
        signature=request.headers.get("X-Prolific-Request-Signature", ""),
        now=at.timestamp(),
    ):
        return HttpResponse("The signature is missing, wrong or too old.", status=403)
    try:
        body = json.loads(request.body)
    except ValueError:
        body = {}
    resource = str(body.get("resource_id", "")) if isinstance(body, dict) else ""
    rounds.note_hook(resource=resource, at=at)
    return HttpResponse(status=204)
