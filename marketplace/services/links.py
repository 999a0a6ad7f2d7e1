"""Signed links: to sign in, to make an account, of other sites, and to a group."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.core import signing
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from marketplace.errors import LinkRefused
from marketplace.models import Invitation, MailInvitation, PeopleGroup, Worker

_SIGN_IN_SALT = "marketplace.sign-in"
_INVITATION_SALT = "marketplace.invitation"


def sign_in_url(worker: Worker) -> str:
    """A new link that signs the worker in."""
    return _url("sign_in_by_link", [worker.public_id, worker.sign_in_number], _SIGN_IN_SALT)


def worker_of_link(token: str) -> Worker:
    """The worker of a sign-in link; raises LinkRefused."""
    try:
        public_id, number = signing.loads(
            token, salt=_SIGN_IN_SALT, max_age=settings.SIGN_IN_LINK_AGE
        )
        return Worker.objects.get(public_id=public_id, sign_in_number=number)
    except (signing.BadSignature, ValueError, Worker.DoesNotExist) as error:
        raise LinkRefused(
            "This sign-in link is no longer valid. Ask the person who sent it for a new one."
        ) from error


def invitation_url(invitation: Invitation) -> str:
    """The link with which an account can be created."""
    return _url("invitation", invitation.pk, _INVITATION_SALT)


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


# Groups of people


_GROUP_SALT = "marketplace.people"
_STOP_SALT = "marketplace.people.stop"


@dataclass(frozen=True)
class Invited:
    """What a link invites to, and the address that it was sent to, if it was sent by mail."""

    group: PeopleGroup
    invitation: MailInvitation | None = None


def group_url(group: PeopleGroup) -> str:
    """The link with which anybody can join the group."""
    return _url("people_welcome", [group.pk, group.link_number], _GROUP_SALT)


def mail_url(invitation: MailInvitation) -> str:
    """The link for one address. After joining, it signs the same person in."""
    return _url("people_welcome", ["mail", invitation.pk], _GROUP_SALT)


def stop_url(invitation: MailInvitation) -> str:
    """The link with which the address gets no more mail from this site."""
    return _url("people_stop_mail", invitation.pk, _STOP_SALT)


def _url(name: str, value: object, salt: str) -> str:
    return settings.MARKETPLACE_URL + reverse(name, args=[signing.dumps(value, salt=salt)])


def invited_by(token: str) -> Invited:
    """What the link invites to; raises LinkRefused."""
    try:
        first, second = signing.loads(token, salt=_GROUP_SALT)
        if first == "mail":
            invitation = MailInvitation.objects.select_related("group", "worker").get(pk=second)
            return Invited(invitation.group, invitation)
        return Invited(PeopleGroup.objects.get(pk=first, link_number=second))
    except (
        signing.BadSignature,
        ValueError,
        TypeError,
        MailInvitation.DoesNotExist,
        PeopleGroup.DoesNotExist,
    ) as error:
        raise LinkRefused(
            _(
                "This link is incomplete or no longer valid. Copy the whole link again, or ask "
                "the person who sent it for a new one."
            )
        ) from error


def invitation_to_stop(token: str) -> MailInvitation:
    """The invitation whose address wants no more mail; raises LinkRefused."""
    try:
        return MailInvitation.objects.get(pk=signing.loads(token, salt=_STOP_SALT))
    except (signing.BadSignature, ValueError, MailInvitation.DoesNotExist) as error:
        raise LinkRefused(_("This link is incomplete. Copy the whole link again.")) from error


def member_of(invitation: MailInvitation, *, at: datetime) -> Worker | None:
    """The member whom the mail's link signs in now, or None.

    Like other sign-in links, it ends after SIGN_IN_LINK_AGE and with "Sign out everywhere".
    """
    worker = invitation.worker
    if worker is None or worker.sign_in_number != invitation.sign_in_number:
        return None
    sent = invitation.sent_at or invitation.created_at
    return worker if at < sent + settings.SIGN_IN_LINK_AGE else None
