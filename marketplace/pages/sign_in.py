"""Sign-in links, invitations and single sign-on."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from marketplace.errors import LinkRefused
from marketplace.models import Invitation, Worker

_SALT = "marketplace.sign-in"
_INVITATION_SALT = "marketplace.invitation"


def sign_in_url(worker: Worker) -> str:
    """A new link that signs the worker in."""
    token = signing.dumps([worker.public_id, worker.sign_in_number], salt=_SALT)
    return settings.MARKETPLACE_URL + reverse("sign_in_by_link", args=[token])


def worker_of_link(token: str) -> Worker:
    """The worker of a sign-in link; raises LinkRefused."""
    try:
        public_id, number = signing.loads(token, salt=_SALT, max_age=settings.SIGN_IN_LINK_AGE)
        return Worker.objects.get(public_id=public_id, sign_in_number=number)
    except (signing.BadSignature, ValueError, Worker.DoesNotExist) as error:
        raise LinkRefused(
            "This sign-in link is no longer valid. Ask the person who sent it for a new one."
        ) from error


def invitation_url(invitation: Invitation) -> str:
    """The link with which an account can be created."""
    token = signing.dumps(invitation.pk, salt=_INVITATION_SALT)
    return settings.MARKETPLACE_URL + reverse("invitation", args=[token])


def invitation_of_link(token: str) -> int:
    """Primary key of the invitation in a link; raises LinkRefused."""
    try:
        return int(signing.loads(token, salt=_INVITATION_SALT))
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise LinkRefused(
            "This invitation link is incomplete. Copy the whole link again."
        ) from error


@dataclass(frozen=True)
class Introduction:
    """The contents of a signed link of another site."""

    identifier: str
    country: str
    next_page: str
    signature: str
    expires_at: datetime


def sso_signature(fields: dict[str, str]) -> str:
    """The signature of a link's fields.

    HMAC-SHA256 in hexadecimal, with the shared secret, over the fields sorted by name and encoded
    as a query string.
    """
    message = urlencode(sorted(fields.items()))
    return hmac.new(settings.SSO_SECRET.encode(), message.encode(), hashlib.sha256).hexdigest()


def introduction_of(query: QueryDict, *, at: datetime) -> Introduction:
    """The contents of another site's link; raises LinkRefused if it is forged or too old."""
    fields = query.dict()
    signature = str(fields.pop("signature", ""))
    given = {name: str(value) for name, value in fields.items()}
    if not hmac.compare_digest(sso_signature(given).encode(), signature.encode()):
        raise LinkRefused("This link is not from the site that can sign you in here.")
    try:
        expires_at = datetime.fromtimestamp(int(given["expires"]), UTC)
    except (KeyError, ValueError, OverflowError, OSError) as error:
        raise LinkRefused("This link has no expiry time.") from error
    if not at < expires_at <= at + settings.SSO_LINK_AGE:
        raise LinkRefused("This link has expired. Go back and follow a new one.")
    return Introduction(
        identifier=given.get("id", ""),
        country=given.get("country", ""),
        next_page=given.get("next", ""),
        signature=signature,
        expires_at=expires_at,
    )


def safe_next(request: HttpRequest, target: str | None) -> str:
    """The target if it is a page of this site, else the list of HITs."""
    if target and url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return target
    return reverse("groups")
