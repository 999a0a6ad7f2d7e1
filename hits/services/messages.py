"""Messages to workers. A message is stored with its recipients before the reconciler sends it.

The marketplace has no token for messages. So a recipient is marked before the call, and if its
outcome never becomes known, the message is not sent again: a worker gets it once or not at all.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotate.models import Campaign, Worker
from corpora.errors import DomainError
from hits.models import MessageRecipient, MessageStatus, WorkerAccount, WorkerMessage
from qualcontrol.services.locks import lock_workers

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
    sender: User,
    at: datetime,
) -> WorkerMessage:
    """Store a message to these workers of the campaign; the next sync sends it.

    `key` names the request: with the same key nothing is sent twice. Raises MessageNotPossible.
    """
    subject, text = subject.strip(), text.strip()
    if not subject or not text:
        raise MessageNotPossible("Enter a subject and a text.")
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
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
    found = list(locked[:PER_CALL])
    MessageRecipient.objects.filter(pk__in=[one.pk for one in found]).update(
        status=MessageStatus.SENDING
    )
    return found


def record_sent(
    *, recipients: Sequence[MessageRecipient], not_reached: Collection[str], at: datetime
) -> None:
    """Store the outcome of a call; `not_reached` are ids of the marketplace."""
    failed = [one.pk for one in recipients if one.account.marketplace_id in not_reached]
    sent = [one.pk for one in recipients if one.pk not in failed]
    MessageRecipient.objects.filter(pk__in=sent).update(status=MessageStatus.SENT, sent_at=at)
    MessageRecipient.objects.filter(pk__in=failed).update(status=MessageStatus.NOT_REACHED)


@transaction.atomic
def put_back(*, recipients: Sequence[MessageRecipient]) -> None:
    """Plan again what the marketplace refused to send, except to workers whose id was deleted
    meanwhile."""
    lock_workers([one.account.worker_id for one in recipients])
    refused = MessageRecipient.objects.filter(
        pk__in=[one.pk for one in recipients], status=MessageStatus.SENDING
    )
    refused.filter(account__id_deleted_at=None).update(status=MessageStatus.PLANNED)
    refused.update(status=MessageStatus.NOT_REACHED)
