"""Find new notices, and store each once."""

import logging
from datetime import datetime, timedelta

from django.db import Error, IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from background.models import Delivery, DeliveryStatus, Notice
from background.notices.choices import recipients, webhooks_for
from background.notices.registry import Event, NoticeKind, notice_kinds
from corpora.errors import DomainError, one_line
from shared.database.connections import drop_lost_connections

log = logging.getLogger(__name__)

# A state that ends and begins again is noticed at most this often.
AGAIN_AFTER = timedelta(days=1)


def sweep(*, at: datetime) -> int:
    """Store new notices with their deliveries; return their number.

    Any number of processes may do this at the same time. A kind that fails does not stop others.
    """
    new = 0
    for kind in notice_kinds().values():
        try:
            new += _sweep_kind(kind, at)
        except (DomainError, Error) as error:
            # The next kind gets a new connection if this one was lost.
            drop_lost_connections()
            log.warning("Notices of the kind %s: %s", kind.name, one_line(error))
        except Exception as error:
            log.error("Notices of the kind %s: %s", kind.name, one_line(error), exc_info=error)
    return new


def _sweep_kind(kind: NoticeKind, at: datetime) -> int:
    events = list(kind.find(at))
    subjects = {event.subject for event in events}
    if kind.is_state:
        past = Notice.objects.open().filter(kind=kind.name).exclude(subject__in=subjects)
        past.update(over_at=at)
    earlier = Notice.objects.filter(kind=kind.name, subject__in=subjects)
    if kind.is_state:
        recent = earlier.filter(noticed_at__gt=at - AGAIN_AFTER, noticed_at__lte=at)
        mails = Delivery.objects.filter(notice=OuterRef("pk"), user__isnull=False)
        unsent = mails.exclude(status=DeliveryStatus.SENT)
        earlier = earlier.open() | recent.exclude(Exists(unsent))
    told = set(earlier.values_list("subject", flat=True))
    return sum(notice(kind, event, at=at) for event in events if event.subject not in told)


def notice(kind: NoticeKind, event: Event, *, at: datetime) -> bool:
    """Store a notice and whom to tell; return False if another process has stored it.

    Nobody is told the same twice within a day.
    """
    told = Delivery.objects.filter(
        Q(status=DeliveryStatus.SENT) | Q(webhook__isnull=False),
        notice__kind=kind.name,
        notice__subject=event.subject,
        notice__noticed_at__gt=at - AGAIN_AFTER,
        notice__noticed_at__lte=at,
    )
    already = set(told.values_list("user", "webhook"))
    try:
        with transaction.atomic():
            made = Notice.objects.create(
                kind=kind.name,
                subject=event.subject,
                about=event.about,
                team=event.team,
                is_personal=event.only is not None,
                title=event.title[:200],
                text=event.text,
                path=event.path,
                noticed_at=at,
            )
            to: list[tuple[int | None, int | None]] = [
                *((user.pk, None) for user in recipients(kind, event.team, event.only)),
                *((None, webhook.pk) for webhook in webhooks_for(kind, event)),
            ]
            Delivery.objects.bulk_create(
                Delivery(notice=made, due_at=at, user_id=user, webhook_id=webhook)
                for user, webhook in to
                if (user, webhook) not in already
            )
    except IntegrityError:
        return False
    return True
