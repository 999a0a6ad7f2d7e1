"""E-mail: whether the site sends any, and invitations to teams."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from accounts.models import Invitation

logger = logging.getLogger(__name__)


def send_invitation(invitation: Invitation, link: str) -> bool:
    """Send the link to the invitation's address. Returns whether the mail server took it."""
    context = {"invitation": invitation, "link": link, "site": settings.SITE_URL}
    subject = render_to_string("accounts/invitation_subject.txt", context)
    text = render_to_string("accounts/invitation_mail.txt", context)
    try:
        send_mail(" ".join(subject.split()), text, None, [invitation.email])
    except (OSError, SMTPException) as error:
        # Without the address and the link, which are not for logs.
        logger.warning("An invitation could not be sent by e-mail: %s", type(error).__name__)
        return False
    return True


def sends_email() -> bool:
    """Whether this installation can send e-mail."""
    return bool(settings.EMAIL_HOST) or not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend")
