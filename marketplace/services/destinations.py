"""The destinations to which notifications may be sent, and the keys to send them with.

Requesters name a queue or topic. The marketplace only sends to destinations that its operator
allows: the server in `MARKETPLACE_NOTIFICATION_ENDPOINT`, or the Amazon queues and topics listed in
`MARKETPLACE_NOTIFICATION_DESTINATIONS`, with keys made for this purpose. It never uses keys that
boto3 would find by itself, because those are the operator's own.
"""

import re
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from django.conf import settings

from marketplace.errors import DomainError

# Errors that boto3 raises when sending fails or the response is invalid.
FAILURES = (BotoCoreError, ClientError, ResponseParserError)
LONGEST = 1000
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:(?P<region>[a-z0-9-]+):[0-9]{12}:[A-Za-z0-9_.-]{1,256}")
_QUEUE_PATH = re.compile(r"/[A-Za-z0-9_./-]{1,400}")
_REGION = re.compile(r"sqs\.(?P<region>[a-z0-9-]+)\.amazonaws\.com")
# For the operator's own server, which does not check keys.
_NO_KEYS = ("marketplace", "marketplace")


def check_destination(transport: str, destination: str) -> None:
    """Raise DomainError unless the marketplace may send to the destination."""
    is_possible = _is_topic if transport == "SNS" else _is_queue
    if not is_possible(destination):
        what = "SNS topic ARN" if transport == "SNS" else "SQS queue URL"
        raise _refused(f'The Destination "{destination[:200]}" is not a valid {what}.')
    if not is_allowed(transport, destination):
        raise _refused(
            f'The marketplace does not send notifications to "{destination}". Its operator can '
            "allow this destination."
        )


def _refused(message: str) -> DomainError:
    return DomainError(message, code="InvalidTransportEndpoint")


def _is_topic(destination: str) -> bool:
    return _TOPIC.fullmatch(destination) is not None


def _is_queue(destination: str) -> bool:
    if len(destination) > LONGEST:
        return False
    try:
        parts = urlsplit(destination)
        # `parts.port` raises ValueError if the port is invalid.
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return (
        is_address
        and parts.scheme in ("http", "https")
        and _QUEUE_PATH.fullmatch(parts.path) is not None
        and parts.username is None
        and not (parts.query or parts.fragment)
        and parts.geturl() == destination
    )


def is_allowed(transport: str, destination: str) -> bool:
    """Whether the operator allows notifications to this destination."""
    endpoint = settings.MTURK_NOTIFICATION_ENDPOINT
    if endpoint:
        # All topics of that server, and the queues whose URLs begin with its address.
        return (
            transport == "SNS"
            or _origin(destination) == _origin(endpoint)
            or _is_listed(destination)
        )
    return bool(settings.NOTIFICATION_KEYS) and _is_listed(destination)


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()


def _is_listed(destination: str) -> bool:
    return any(
        destination.startswith(listed.removesuffix("*"))
        if listed.endswith("*")
        else destination == listed
        for listed in settings.NOTIFICATION_DESTINATIONS
    )


def send(transport: str, destination: str, text: str) -> None:
    """Send the text; raises one of FAILURES."""
    endpoint = settings.MTURK_NOTIFICATION_ENDPOINT
    keys = settings.NOTIFICATION_KEYS or _NO_KEYS
    region = _region(transport, destination)
    if transport == "SQS":
        client = _client("sqs", endpoint, region, keys)
        client.send_message(QueueUrl=destination, MessageBody=text)
    else:
        client = _client("sns", endpoint, region, keys)
        client.publish(TopicArn=destination, Message=text)


def _region(transport: str, destination: str) -> str:
    if transport == "SNS":
        found = _TOPIC.fullmatch(destination)
    else:
        found = _REGION.fullmatch(urlsplit(destination).hostname or "")
    return found["region"] if found else "us-east-1"


@lru_cache(maxsize=32)
def _client(
    service: Literal["sqs", "sns"], endpoint_url: str, region: str, keys: tuple[str, str]
) -> Any:
    access_key, secret_key = keys
    return boto3.client(
        service,
        endpoint_url=endpoint_url or None,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(connect_timeout=5, read_timeout=10, retries={"max_attempts": 1}),
    )
