"""Signed links that sign a worker in."""

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.urls import reverse

from marketplace.errors import DomainError
from marketplace.models import Worker

from .middleware import SESSION_KEY

_SALT = "marketplace.sign-in"


class LinkRefused(DomainError):
    """The sign-in link is forged, cut off or too old."""


def sign_in_url(worker: Worker) -> str:
    """A fresh link that signs the worker in."""
    token = signing.dumps(worker.public_id, salt=_SALT)
    return settings.MARKETPLACE_URL + reverse("sign_in_by_link", args=[token])


def worker_of_link(token: str) -> Worker:
    """The worker whom the link's token names; raises LinkRefused."""
    try:
        public_id = signing.loads(token, salt=_SALT, max_age=settings.SIGN_IN_LINK_AGE)
        return Worker.objects.get(public_id=public_id)
    except (signing.BadSignature, Worker.DoesNotExist) as error:
        raise LinkRefused(
            "This sign-in link is not valid any more. Ask whoever sent it for a new one."
        ) from error


def sign_in(request: HttpRequest, worker: Worker) -> None:
    """Begin the worker's session, and end whatever session was there before."""
    request.session.flush()
    request.session[SESSION_KEY] = worker.pk
