"""The queue into which the marketplace puts what happened: SQS, through boto3.

A message comes at least once and in no order. It stays in the queue, hidden for a while, until it
is deleted, so whoever is killed over it loses nothing.
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

from annotate.errors import DomainError

# SQS gives and takes at most so many at once.
BATCH = 10
# Read in one go, so that many events of one HIT are answered by reading the HIT once.
MOST_MESSAGES = 500
# A message that was read comes back after this time unless it is deleted.
HIDDEN_SECONDS = 300
LONGEST_DOCUMENT_ID = 100
LONGEST_ID = 64


class QueueUnreachable(DomainError):
    """The queue did not answer, or refused us."""


class Malformed(DomainError):
    """A message that is no notification of the marketplace's."""


@dataclass(frozen=True)
class Message:
    """One message as the queue gave it."""

    receipt_handle: str
    body: str


@dataclass(frozen=True)
class Notification:
    """What a message tells: its own id, and the (HIT type, HIT) pairs to which something
    happened. What it was is not kept: the marketplace is asked anew."""

    document_id: str
    named: tuple[tuple[str, str], ...]


def parse(body: str) -> Notification:
    """The notification in a message's body, sent straight to the queue or through an SNS topic;
    raises Malformed."""
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
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("The message is not JSON.") from error
    if not isinstance(found, dict):
        raise Malformed("The message is not a JSON object.")
    return found


def _named(event: dict[str, Any]) -> tuple[str, str]:
    hit_type_id, hit_id = event.get("HITTypeId", ""), event.get("HITId", "")
    if not all(each == "" or _is_id(each, longest=LONGEST_ID) for each in (hit_type_id, hit_id)):
        raise Malformed("An event's HITTypeId or HITId is not an id.")
    return hit_type_id, hit_id


def _is_id(value: object, *, longest: int) -> TypeGuard[str]:
    """Whether it is a text that can be looked up: short, and of characters that are visible."""
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable()


def digest(body: str) -> str:
    """A name for a message that has none of its own."""
    return f"sha256:{hashlib.sha256(body.encode(errors='replace')).hexdigest()}"


def receive() -> Iterator[Message]:
    """What waits in the queue now, up to MOST_MESSAGES; raises QueueUnreachable."""
    for _ in range(MOST_MESSAGES // BATCH):
        answer = _call(
            "receive_message",
            MaxNumberOfMessages=BATCH,
            VisibilityTimeout=HIDDEN_SECONDS,
        )
        messages = answer.get("Messages", [])
        try:
            yield from [Message(each["ReceiptHandle"], each["Body"]) for each in messages]
        except (KeyError, TypeError) as error:
            raise QueueUnreachable("The queue's reply has messages without a body.") from error
        if not messages:
            return


def delete(messages: Iterable[Message]) -> None:
    """Take messages out of the queue for good; raises QueueUnreachable. One that could not be
    deleted comes back."""
    handles = [message.receipt_handle for message in messages]
    for start in range(0, len(handles), BATCH):
        batch = handles[start : start + BATCH]
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
        # botocore's parser raises whatever a strange reply makes it stumble over.
        raise QueueUnreachable(f"The reply of {url} to {operation} cannot be parsed.") from error
    return reply


@lru_cache(maxsize=8)
def _client(endpoint_url: str, access_key: str, secret_key: str) -> Any:
    """A client for the queue; empty arguments leave the choice to boto3."""
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
