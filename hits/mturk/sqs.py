"""The SQS queue to which the marketplace sends events.

Each message arrives at least once, and in any order. A message that was read stays in the queue,
hidden for a while, until it is deleted. If a process is killed before that, no message is lost.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from corpora.errors import DomainError
from shared.database.transactions import batches

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
