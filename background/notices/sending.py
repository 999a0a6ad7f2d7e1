"""Send due notices by e-mail or webhook, and try again later if that fails."""

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q
from django.utils import timezone

from background.failures import note_failure
from background.models import SECRET_PREFIX, Delivery, DeliveryStatus, FailureSource
from background.notices.choices import still_wants
from background.outgoing.exchange import RequestFailed, exchange
from corpora.errors import one_line
from shared.database.queues import claim, held, is_due
from shared.mail import with_ascii_domain

log = logging.getLogger(__name__)

# The pause after each failed attempt. After the last one a delivery is given up.
PAUSES = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
]
MOST_ATTEMPTS = len(PAUSES) + 1
# After this time another process may repeat an attempt whose process has died.
ATTEMPT_ENDS_AFTER = timedelta(minutes=5)


def send_due() -> Iterator[Delivery]:
    """Try the deliveries that are due, one after the other; yield each afterwards."""
    while (delivery := take(at=timezone.now())) is not None:
        try_delivery(delivery, at=timezone.now())
        delivery.refresh_from_db()
        yield delivery


def take(*, at: datetime) -> Delivery | None:
    """Give this process a delivery that is due; None if there is none."""
    # One that was never tried has no reason to wait: a clock that was ahead has stored it.
    due = is_due(at, longest_pause=PAUSES[-1]) | Q(attempts=0)
    waiting = Delivery.objects.filter(due, status=DeliveryStatus.WAITING)
    rows = waiting.select_related("notice__team", "user", "webhook").order_by("due_at", "pk")
    return claim(rows, lambda _: {"due_at": at + ATTEMPT_ENDS_AFTER})


def try_delivery(delivery: Delivery, *, at: datetime) -> None:
    """Send it, and store the outcome."""
    if reason := _unwanted(delivery):
        _end(delivery, DeliveryStatus.GIVEN_UP, at, error=reason)
        return
    try:
        if delivery.webhook is not None:
            _post(delivery, at)
        else:
            _mail(delivery)
    except (RequestFailed, OSError) as error:
        _failed(delivery, one_line(error), at)
    except Exception as error:
        # A bug or a broken mail server must not stop the other deliveries.
        log.warning("Delivery %s: %s", delivery.key, type(error).__name__, exc_info=error)
        _failed(delivery, f"{type(error).__name__}: {one_line(error)}", at)
    else:
        _end(delivery, DeliveryStatus.SENT, at)


def _unwanted(delivery: Delivery) -> str:
    """Why the delivery is no longer sent; empty if it is."""
    webhook, user = delivery.webhook, delivery.user
    if webhook is not None and (webhook.removed_at or not webhook.is_on):
        return "The webhook was removed or switched off."
    if user is not None and delivery.notice.over_at is not None:
        return "What it says was over before it could be sent."
    if user is not None and not (user.is_active and user.email):
        return "The user has no e-mail address any more, or may not sign in."
    if user is not None and not still_wants(user, delivery.notice):
        return "The user may not see the campaign any more, or has switched the e-mails off."
    return ""


def _failed(delivery: Delivery, reason: str, at: datetime) -> None:
    if delivery.attempts >= MOST_ATTEMPTS:
        reason = f"Given up after {delivery.attempts} attempts. {reason}"
        _end(delivery, DeliveryStatus.GIVEN_UP, at, error=reason)
        _note_given_up(delivery, reason, at)
        return
    pause = PAUSES[delivery.attempts - 1]
    held(delivery).update(due_at=at + pause, run=None, error=reason)


def _note_given_up(delivery: Delivery, reason: str, at: datetime) -> None:
    note_failure(
        source=FailureSource.DELIVERY,
        subject=str(delivery.key),
        title=str(delivery),
        error=reason,
        at=at,
        team=delivery.notice.team,
        about=delivery.notice.about,
        path=delivery.webhook.get_absolute_url() if delivery.webhook else "",
    )


def _end(delivery: Delivery, status: DeliveryStatus, at: datetime, *, error: str = "") -> None:
    held(delivery).update(status=status, ended_at=at, run=None, error=error)


def _post(delivery: Delivery, at: datetime) -> None:
    webhook, timestamp = delivery.webhook, int(at.timestamp())
    assert webhook is not None
    body, key = json.dumps(content(delivery)).encode(), str(delivery.key)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "caption-campaigns",
        # The same in each attempt, so that a receiver can drop a repeated request.
        "Webhook-Id": key,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": signature(webhook.secret, key, timestamp, body),
    }
    post(
        webhook.url,
        body,
        headers,
        seconds=settings.WEBHOOK_SECONDS,
        allows_private=settings.WEBHOOKS_TO_PRIVATE_NETWORKS,
    )


def content(delivery: Delivery) -> dict[str, str | None]:
    """What a webhook gets, as JSON."""
    notice = delivery.notice
    return {
        "kind": notice.kind,
        "campaign": notice.about.slug if notice.about else None,
        "title": notice.title,
        "text": notice.text,
        "url": notice.url,
        "noticed_at": notice.noticed_at.isoformat(),
    }


def _mail(delivery: Delivery) -> None:
    notice, user = delivery.notice, delivery.user
    assert user is not None
    where = f"[{notice.about}] " if notice.about else ""
    subject = " ".join(f"{where}{notice.title}".split())
    body = (
        f"{notice.text}\n\n{notice.url}\n\n"
        f"You can switch these e-mails off at {settings.SITE_URL}/account/notices/.\n"
    )
    EmailMessage(subject, body, to=[with_ascii_domain(user.email)]).send()


MOST_READ = 65_536


def signature(secret: str, key: str, timestamp: int, body: bytes) -> str:
    """The signature of the Standard Webhooks specification: HMAC-SHA256 of id, time and body."""
    signed = f"{key}.{timestamp}.".encode() + body
    raw = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return "v1," + base64.b64encode(hmac.new(raw, signed, hashlib.sha256).digest()).decode()


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    seconds: float,
    allows_private: bool = False,
) -> None:
    """Send the body; raises RequestFailed unless the answer is 2xx within this many seconds."""
    answer = exchange(
        url,
        method="POST",
        body=body,
        headers=headers,
        seconds=seconds,
        most_bytes=MOST_READ,
        allows_private=allows_private,
    )
    if 300 <= answer.status < 400:
        raise RequestFailed(
            f"The answer was a redirect ({answer.status}) to {answer.location[:200]}. Redirects "
            "are not followed: enter the final address."
        )
    if not 200 <= answer.status < 300:
        raise RequestFailed(f"The answer was {answer.status}.")
