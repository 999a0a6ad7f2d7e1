"""The e-mail that invites an address to a group."""

from datetime import datetime

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import translation

from marketplace.models import MailInvitation
from marketplace.services import mail_invitations

from .links import mail_url, stop_url


def is_configured() -> bool:
    """Whether this site can send e-mail."""
    return bool(settings.EMAIL_HOST) or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")


def send_invitations(*, at: datetime) -> int:
    """Send one invitation that waits; return 0 if there is none, or if this site sends no mail."""
    return mail_invitations.send_next(post=post, at=at) if is_configured() else 0


def post(invitation: MailInvitation) -> None:
    """Send the mail in the language of its group.

    Its headers let mail programs offer to unsubscribe (RFC 8058).
    """
    stop = stop_url(invitation)
    context = {"group": invitation.group, "url": mail_url(invitation), "stop_url": stop}
    with translation.override(invitation.group.language):
        body = render_to_string("marketplace/people/invitation_mail.txt", context)
    EmailMessage(
        subject=invitation.group.name,
        body=body,
        to=[invitation.address],
        headers={
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    ).send()
