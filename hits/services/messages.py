"""Messages to workers. A message is stored with its recipients before the reconciler sends it.

The marketplace has no token for messages. So a recipient is marked before the call, and if its
outcome never becomes known, the message is not sent again: a worker gets it once or not at all.

With `review.tells_workers`, the campaign tells workers which answers were discarded, and that they
were excluded. Such a message has the address of a page, which nobody but its reader can know. The
page shows what is so at that time, so one message is enough, and another one after an exclusion.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext

from annotate.kinds.wording import in_language
from annotate.models import Campaign, Response, ResponseStatus, Worker
from corpora.errors import DomainError
from hits.models import TOLD_AFTER, MessageRecipient, MessageStatus, WorkerAccount, WorkerMessage
from hits.models.hits import DECIDED
from hits.services.accounts import ERASED
from qualcontrol.models import Verdict
from qualcontrol.services.exclusions import record_appeal
from qualcontrol.services.locks import lock_worker, lock_workers

# The marketplace's limits.
MOST_SUBJECT, MOST_TEXT = 200, 4096
PER_CALL = 100


class MessageNotPossible(DomainError):
    """The message cannot be sent."""


@transaction.atomic
def plan_message(
    *,
    campaign: Campaign,
    pseudonyms: Collection[str],
    subject: str,
    text: str,
    key: str,
    sender: User | None,
    at: datetime,
) -> WorkerMessage:
    """Store a message to these workers of the campaign; the next sync sends it.

    `key` names the request: with the same key nothing is sent twice. Raises MessageNotPossible.
    """
    subject, text = subject.strip(), text.strip()
    if not subject or not text:
        raise MessageNotPossible("Enter a subject and a text.")
    Campaign.objects.locked(campaign.pk)
    named = Worker.objects.filter(pseudonym__in=pseudonyms)
    lock_workers([*named.values_list("pk", flat=True)])
    accounts = WorkerAccount.objects.filter(
        endpoint=campaign.endpoint,
        worker__pseudonym__in=pseudonyms,
        assignments__hit__campaign=campaign,
        id_deleted_at=None,
    ).distinct()
    if accounts.count() != len(set(pseudonyms)):
        raise MessageNotPossible(
            "Some of these workers have no account at the campaign's marketplace: their captions "
            "are from a file, or their ids were deleted."
        )
    if WorkerMessage.objects.filter(key=key).exists():
        raise MessageNotPossible("This message is stored already. Nothing is sent twice.")
    message = WorkerMessage.objects.create(
        campaign=campaign, key=key, subject=subject, text=text, sender=sender, planned_at=at
    )
    MessageRecipient.objects.bulk_create(
        MessageRecipient(message=message, account=account) for account in accounts.order_by("pk")
    )
    return message


@transaction.atomic
def take_recipients(*, message: WorkerMessage) -> list[MessageRecipient]:
    """Mark up to PER_CALL recipients as being sent to, and return them with their accounts."""
    waiting = message.recipients.filter(status=MessageStatus.PLANNED).order_by("pk")
    locked = waiting.select_for_update(of=("self",)).select_related("account")
    recipients = list(locked[:PER_CALL])
    MessageRecipient.objects.filter(pk__in=[recipient.pk for recipient in recipients]).update(
        status=MessageStatus.SENDING
    )
    return recipients


def record_sent(
    *, recipients: Sequence[MessageRecipient], not_reached: Collection[str], at: datetime
) -> None:
    """Store the outcome of a call; `not_reached` are ids of the marketplace."""
    failed = [
        recipient.pk for recipient in recipients if recipient.account.marketplace_id in not_reached
    ]
    sent = [recipient.pk for recipient in recipients if recipient.pk not in failed]
    MessageRecipient.objects.filter(pk__in=sent).update(status=MessageStatus.SENT, sent_at=at)
    MessageRecipient.objects.filter(pk__in=failed).update(status=MessageStatus.NOT_REACHED)


@transaction.atomic
def put_back(*, recipients: Sequence[MessageRecipient]) -> None:
    """Plan again what the marketplace refused to send, except to workers whose id was deleted
    meanwhile."""
    lock_workers([recipient.account.worker_id for recipient in recipients])
    refused = MessageRecipient.objects.filter(
        pk__in=[recipient.pk for recipient in recipients], status=MessageStatus.SENDING
    )
    refused.filter(account__id_deleted_at=None).update(status=MessageStatus.PLANNED)
    refused.update(status=MessageStatus.NOT_REACHED)


SALT = "hits.told"


def tell_workers(*, campaign: Campaign, at: datetime) -> None:
    """Plan the messages that are due, to workers whom the marketplace delivers messages: those of
    whom an assignment is approved or rejected."""
    reached = Worker.objects.filter(
        pk__in=_due(campaign, at),
        account__id_deleted_at=None,
        account__assignments__hit__campaign=campaign,
        account__assignments__status__in=DECIDED,
    )
    with in_language(campaign.config.language):
        for worker in reached.distinct():
            with suppress(MessageNotPossible):  # somebody else has just planned it
                _plan(campaign, worker, at)


def _due(campaign: Campaign, at: datetime, **only: Worker) -> dict[int, str]:
    """The keys of the messages that are due, by worker."""
    bad = discarded(campaign).filter(spot_check__judged_at__lte=at - TOLD_AFTER, **only)
    workers = (
        bad.filter(spot_check__verdict=Verdict.BAD).order_by().values_list("worker", flat=True)
    )
    keys = {worker: f"discarded-{campaign.pk}-{worker}" for worker in workers.distinct()}
    for exclusion in campaign.exclusions.in_force().filter(**only):
        keys[exclusion.worker_id] = f"excluded-{exclusion.pk}"
    messages = WorkerMessage.objects.filter(key__in=keys.values())
    told = set(messages.values_list("key", flat=True))
    return {worker: key for worker, key in keys.items() if key not in told}


@transaction.atomic
def _plan(campaign: Campaign, worker: Worker, at: datetime) -> None:
    Campaign.objects.locked(campaign.pk)
    lock_worker(worker)
    key = _due(campaign, at, worker=worker).get(worker.pk)
    if key is None:  # a verdict was changed, or an exclusion lifted
        return
    if key.startswith("excluded"):
        text = gettext(
            "You get no more tasks of this project. This page shows why, and you can ask there for "
            "another look:"
        )
    else:
        text = gettext("Some of your answers are not used. This page shows which, and why:")
    plan_message(
        campaign=campaign,
        pseudonyms=[worker.pseudonym],
        subject=gettext("About your work: {title}").format(title=campaign.config.hit.title),
        text=f"{text}\n\n{told_url(campaign, worker)}",
        key=key,
        sender=None,
        at=at,
    )


def told_url(campaign: Campaign, worker: Worker) -> str:
    key = signing.Signer(salt=SALT).sign_object([campaign.pk, worker.pk])
    address = reverse("hits:told", args=[campaign.slug])
    return f"{settings.SITE_URL}{address}?{urlencode({'key': key})}"


def told_worker(campaign: Campaign, key: str) -> Worker:
    """The worker whose page the key opens, until their data is erased; raises
    Worker.DoesNotExist."""
    try:
        signed_for, worker = signing.Signer(salt=SALT).unsign_object(key)
    except (signing.BadSignature, TypeError, ValueError) as error:
        raise Worker.DoesNotExist from error
    if signed_for != campaign.pk or not campaign.config.review.tells_workers:
        raise Worker.DoesNotExist
    return Worker.objects.exclude(account__marketplace_id__startswith=ERASED).get(pk=worker)


@transaction.atomic
def appeal_from_page(*, campaign: Campaign, key: str, text: str, at: datetime) -> None:
    """Store the appeal of the worker whose page the key opens. Raises Worker.DoesNotExist,
    CannotAppeal."""
    lock_worker(told_worker(campaign, key))
    worker = told_worker(campaign, key)
    record_appeal(campaign=campaign, worker=worker, text=text, actor=None, at=at)


def discarded(campaign: Campaign) -> QuerySet[Response]:
    """The campaign's discarded responses, without those that workers have withdrawn, or that the
    marketplace has lost."""
    rows = Response.objects.of(campaign).filter(withdrawn_at=None, submission__lost_at=None)
    return rows.filter(status=ResponseStatus.DISCARDED)
