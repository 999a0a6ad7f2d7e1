"""Ingest by events: read the HITs that the messages of the marketplace's queue name.

Events can be late, out of order or duplicated. They only say which HITs to read: the reconciler's
ingest reads these from the marketplace, and a message is deleted only after the results are stored.
All HITs are still listed, but less often.
"""

import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Any, TypeGuard

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from annotate.models import Campaign
from corpora.errors import DomainError
from hits.models import Hit, HitType, Listing, ProcessedMessage
from hits.mturk.replies import storable
from hits.reconcile.ingest import ingest
from hits.reconcile.reconciler import reconcile
from hits.reconcile.run import hit_name
from shared.database.transactions import batches

log = logging.getLogger(__name__)

# Largest number of messages in one call to SQS.
BATCH = 10
# Messages are read in large groups, so that a HIT with many events is read only once.
MOST_MESSAGES = 500
# A message that was read appears again after this time, unless it is deleted.
HIDDEN_SECONDS = 300
LONGEST_DOCUMENT_ID = 100
LONGEST_ID = 64


class QueueUnreachable(DomainError):
    """The queue did not answer, or refused the call."""


class Malformed(DomainError):
    """The message is not a notification from the marketplace."""


@dataclass(frozen=True)
class Message:
    """A message of the queue, not parsed."""

    receipt_handle: str
    body: str


@dataclass(frozen=True)
class Notification:
    """The id of a notification, and the (HIT type, HIT) pairs of its events.

    The kinds of the events are not kept, since the reconciler reads the HITs from the marketplace.
    """

    document_id: str
    named: tuple[tuple[str, str], ...]


def parse(body: str) -> Notification:
    """The notification in a message's body; raises Malformed.

    The message may have come directly or through an SNS topic.
    """
    document = _object(body)
    if "EventDocId" not in document and isinstance(document.get("Message"), str):
        document = _object(document["Message"])
    document_id, events = document.get("EventDocId"), document.get("Events")
    if not _is_id(document_id, longest=LONGEST_DOCUMENT_ID):
        raise Malformed("The message has no EventDocId.")
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise Malformed("The message has no list of Events.")
    return Notification(document_id, tuple(_named(event) for event in events))


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("The message is not JSON.") from error
    if not isinstance(content, dict):
        raise Malformed("The message is not a JSON object.")
    return content


def _named(event: dict[str, Any]) -> tuple[str, str]:
    hit_type_id, hit_id = event.get("HITTypeId", ""), event.get("HITId", "")
    if not all(
        identifier == "" or _is_id(identifier, longest=LONGEST_ID)
        for identifier in (hit_type_id, hit_id)
    ):
        raise Malformed("An event's HITTypeId or HITId is not an id.")
    return hit_type_id, hit_id


def _is_id(value: object, *, longest: int) -> TypeGuard[str]:
    """Whether the value is a string that can be an id: short, with printable characters only."""
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()


def digest(body: str) -> str:
    """An id for a message that has none."""
    return f"sha256:{hashlib.sha256(body.encode(errors='replace')).hexdigest()}"


def receive() -> Iterator[Message]:
    """Yield up to MOST_MESSAGES messages that are in the queue; raises QueueUnreachable."""
    for _ in range(MOST_MESSAGES // BATCH):
        answer = _call(
            "receive_message",
            MaxNumberOfMessages=BATCH,
            VisibilityTimeout=HIDDEN_SECONDS,
        )
        messages = answer.get("Messages", [])
        try:
            yield from [Message(message["ReceiptHandle"], message["Body"]) for message in messages]
        except (KeyError, TypeError) as error:
            raise QueueUnreachable("The queue's reply has messages without a body.") from error
        if not messages:
            return


def delete(messages: Iterable[Message]) -> None:
    """Delete messages from the queue; raises QueueUnreachable.

    Messages that could not be deleted appear again later.
    """
    handles = [message.receipt_handle for message in messages]
    for batch in batches(handles, BATCH):
        _call(
            "delete_message_batch",
            Entries=[
                {"Id": str(number), "ReceiptHandle": handle} for number, handle in enumerate(batch)
            ],
        )


def _call(operation: str, **arguments: Any) -> dict[str, Any]:
    url = settings.MTURK_NOTIFICATION_QUEUE_URL
    client = _client(
        settings.MTURK_SQS_ENDPOINT_URL,
        settings.MTURK_SQS_ACCESS_KEY_ID,
        settings.MTURK_SQS_SECRET_ACCESS_KEY,
    )
    try:
        reply: dict[str, Any] = getattr(client, operation)(QueueUrl=url, **arguments)
    except (BotoCoreError, ClientError) as error:
        raise QueueUnreachable(f"The queue {url} did not answer {operation}: {error}") from error
    except Exception as error:
        # botocore's parser can raise any exception for a malformed reply.
        raise QueueUnreachable(f"The reply of {url} to {operation} cannot be parsed.") from error
    return reply


@lru_cache(maxsize=8)
def _client(endpoint_url: str, access_key: str, secret_key: str) -> Any:
    """A client for the queue; for empty arguments, boto3 uses its own configuration."""
    return boto3.session.Session().client(
        "sqs",
        region_name="us-east-1",
        endpoint_url=endpoint_url or None,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        config=Config(
            connect_timeout=settings.MTURK_CONNECT_TIMEOUT,
            read_timeout=settings.MTURK_READ_TIMEOUT,
            retries={"mode": "standard", "total_max_attempts": 3},
        ),
    )


@dataclass(frozen=True)
class Taken:
    """Numbers of messages received and submissions ingested. Events may have been missed unless
    `complete`."""

    messages: int = 0
    ingested: int = 0
    complete: bool = True


def take_events(*, at: datetime, at_most: int | None = None) -> Taken:
    """Read the HITs that the queue's messages name, for all campaigns, then delete the messages.

    Return what was taken. Without a queue, do nothing. With `at_most`, no more HITs of a campaign
    are read; the others are left to its shares.
    """
    if not settings.MTURK_NOTIFICATION_QUEUE_URL:
        return Taken()
    received, complete = _receive(at)
    about = _campaigns_of(received)
    hits: dict[int, set[str]] = defaultdict(set)
    for pk, hit_id in chain.from_iterable(about.values()):
        hits[pk].add(hit_id)
    ingested, failed = 0, set()
    for campaign in Campaign.objects.filter(pk__in=hits).order_by("pk"):
        read, unread = _ingest(campaign, hits[campaign.pk], at_most)
        ingested += read
        failed |= {(campaign.pk, hit_id) for hit_id in unread}
    # Messages about HITs that could not be read stay in the queue, hidden for some minutes.
    finished = {
        message: received[message] for message, named in about.items() if not named & failed
    }
    _forget(finished, at=at)
    return Taken(len(received), ingested, complete)


def _receive(at: datetime) -> tuple[dict[Message, Notification], bool]:
    """The messages in the queue, and whether the queue was read to its end."""
    received: dict[Message, Notification] = {}
    try:
        for message in receive():
            try:
                received[message] = parse(message.body)
            except Malformed as error:
                _set_aside(message, problem=str(error), at=at)
    except QueueUnreachable as error:
        log.warning("%s All HITs are listed instead.", error)
        return received, False
    return received, True


def _set_aside(message: Message, *, problem: str, at: datetime) -> None:
    """Store a message that cannot be read and delete it from the queue, which it would block."""
    row, is_new = ProcessedMessage.objects.get_or_create(
        document_id=digest(message.body),
        defaults={"received_at": at, "problem": problem, "body": storable(message.body)},
    )
    if is_new:
        log.warning(
            "A message of the queue is set aside as processed message %s: %s", row.pk, problem
        )
    delete([message])


def _campaigns_of(received: dict[Message, Notification]) -> dict[Message, set[tuple[int, str]]]:
    """The campaigns and HITs that each message names, as pairs of keys and HIT ids.

    The HIT id is empty for an unknown HIT of a known HIT type. Repeated messages, and messages
    about the HITs of other programs, have no pairs.
    """
    named = {pair for notification in received.values() for pair in notification.named}
    here = {"campaign__endpoint": settings.MTURK_ENDPOINT}
    hits = Hit.objects.filter(hit_id__in={hit_id for _, hit_id in named}, **here)
    types = HitType.objects.filter(hit_type_id__in={hit_type for hit_type, _ in named}, **here)
    of_hit = dict(hits.values_list("hit_id", "campaign"))
    of_type = dict(types.values_list("hit_type_id", "campaign"))
    ids = {notification.document_id for notification in received.values()}
    processed = ProcessedMessage.objects.filter(document_id__in=ids)
    repeated = set(processed.values_list("document_id", flat=True))
    about: dict[Message, set[tuple[int, str]]] = {message: set() for message in received}
    for message, notification in received.items():
        for hit_type_id, hit_id in notification.named:
            if notification.document_id in repeated:
                continue
            if hit_id in of_hit:
                about[message].add((of_hit[hit_id], hit_id))
            elif hit_type_id in of_type:
                about[message].add((of_type[hit_type_id], ""))
    return about


def _ingest(campaign: Campaign, named: set[str], at_most: int | None) -> tuple[int, set[str]]:
    """Ingest; return the number of submissions, and the ids of the HITs that were not read.

    If an unknown HIT is among the named ones, all HITs of the campaign are read.
    """
    try:
        sync = reconcile(
            campaign,
            steps=(ingest,),
            is_whole="" in named,
            named=frozenset(named - {""}),
            at_most=at_most,
        )
    except DomainError as error:
        log.warning("%s: %s", campaign, error)
        return 0, named
    problems = campaign.sync_problems.filter(last_at__gte=sync.finished_at)
    troubled = set(problems.values_list("subject", flat=True)) if sync.problems else set()
    if troubled and not troubled <= {hit_name(hit_id) for hit_id in named}:
        return sync.ingested, named
    return sync.ingested, {hit_id for hit_id in named if hit_name(hit_id) in troubled}


def _forget(finished: dict[Message, Notification], *, at: datetime) -> None:
    """Record the messages as processed, and delete them from the queue."""
    ProcessedMessage.objects.bulk_create(
        (
            ProcessedMessage(document_id=notification.document_id, received_at=at)
            for notification in finished.values()
        ),
        ignore_conflicts=True,
    )
    try:
        delete(finished)
    except QueueUnreachable as error:
        log.warning("Processed messages could not be deleted and will come again: %s", error)


def is_listing_due(campaign: Campaign, *, at: datetime) -> bool:
    """Whether the next sync of the campaign has to list all its HITs.

    That is the case if the last listing is older than MTURK_POLL_SECONDS with a queue, or
    MTURK_LIST_SECONDS without one, and always if a HIT type does not send its events to the queue.
    """
    queue_url = settings.MTURK_NOTIFICATION_QUEUE_URL
    every = settings.MTURK_POLL_SECONDS if queue_url else settings.MTURK_LIST_SECONDS
    if queue_url and campaign.hit_types.exclude(queue_url=queue_url).exists():
        return True
    recent = at - timedelta(seconds=every)
    listed = campaign.syncs.exclude(listing=Listing.NONE)
    # A sync that a clock stored while it was ahead counts only when its time is reached.
    return not listed.filter(started_at__gt=recent, started_at__lte=at).exists()
