"""Delete old rows, by the rules in the table of docs/marketplace.md.

HITs, the assignments of workers who submitted something, and the ledger are never deleted.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, QuerySet
from django.utils import timezone

from marketplace.models import (
    LIVE,
    Activity,
    Assignment,
    Attempt,
    Event,
    ExternalIdentity,
    Message,
    RequestToken,
    UsedLink,
    Worker,
)

from .accounts import SSO_SOURCE
from .worker_data import delete_old_panel_ids

# Maximum number of rows in one statement, so that other writers do not wait long.
BATCH = 500


def forget(*, at: datetime) -> int:
    """Delete a batch of rows that are no longer needed; return their number, 0 if none is left."""
    return (
        sum(_delete_some(old(at)) for old in OLD)
        + _delete_idle_participants(at)
        + delete_old_panel_ids(at, most=BATCH)
    )


def _delete_some(rows: QuerySet[Any]) -> int:
    # Select first: a DELETE waits for other writers even if there is nothing to delete.
    some = list(rows.values_list("pk", flat=True)[:BATCH])
    return rows.model._default_manager.filter(pk__in=some).delete()[0] if some else 0


def _sessions(_at: datetime) -> QuerySet[Any]:
    # Sessions expire by real time, even if a test sets the marketplace's clock.
    return Session.objects.filter(expire_date__lte=timezone.now()).order_by("expire_date")


def _attempts(at: datetime) -> QuerySet[Any]:
    return Attempt.objects.filter(made_at__lte=at - settings.ATTEMPTS_WITHIN).order_by("made_at")


def _used_links(at: datetime) -> QuerySet[Any]:
    return UsedLink.objects.filter(expires_at__lte=at).order_by("expires_at")


def _activity(at: datetime) -> QuerySet[Any]:
    old = Activity.objects.filter(happened_at__lte=at - settings.ACTIVITY_KEPT)
    return old.order_by("happened_at")


def _events(at: datetime) -> QuerySet[Any]:
    # By then the event was sent, or all attempts have failed.
    old = Event.objects.filter(happened_at__lte=at - settings.NOTIFICATIONS_KEPT)
    return old.order_by("happened_at")


def _messages(at: datetime) -> QuerySet[Any]:
    return Message.objects.filter(sent_at__lte=at - settings.MESSAGES_KEPT).order_by("sent_at")


def _request_tokens(at: datetime) -> QuerySet[Any]:
    # Tokens of bonuses and additional assignments are kept forever, so that neither is repeated.
    used = RequestToken.objects.filter(operation="CreateHIT")
    return used.filter(used_at__lte=at - settings.MTURK_TOKEN_LIFE).order_by("used_at")


OLD: tuple[Callable[[datetime], QuerySet[Any]], ...] = (
    _sessions,
    _attempts,
    _used_links,
    _activity,
    _events,
    _messages,
    _request_tokens,
)


def _delete_idle_participants(at: datetime) -> int:
    """Delete old participants from panels who never submitted anything.

    Anybody can create such an account with an invented panel id.
    """
    created = Worker.objects.filter(created_at__lte=at - settings.IDLE_PARTICIPANTS_KEPT)
    idle = created.filter(
        ~Exists(Assignment.objects.filter(worker=OuterRef("pk"), status__in=LIVE)),
        Exists(ExternalIdentity.objects.exclude(source=SSO_SOURCE).filter(worker=OuterRef("pk"))),
        password="",
        blocks=None,
        messages=None,
        qualifications=None,
        qualification_requests=None,
    )
    return sum(map(_delete_participant, idle.order_by("created_at")[:BATCH]))


def _delete_participant(worker: Worker) -> int:
    try:
        with transaction.atomic():
            # Accepting a HIT locks the worker too, so it has happened before this or fails after
            # it.
            worker = Worker.objects.select_for_update().get(pk=worker.pk)
            worker.assignments.exclude(status__in=LIVE).delete()
            worker.participations.all().delete()
            worker.identities.all().delete()
            worker.delete()
    except (ProtectedError, Worker.DoesNotExist):
        return 0
    return 1
