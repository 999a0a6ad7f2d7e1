"""Files in buckets of S3, or of a server with its protocol."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings

from background.outgoing.exchange import RequestFailed
from corpora.errors import DomainError, one_line

SCHEME = "s3://"


class BucketFile(NamedTuple):
    bucket: str
    key: str
    size: int

    @property
    def url(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"


def bucket_of(address: str) -> tuple[str, str]:
    """The bucket and the beginning of the keys of an address such as s3://bucket/folder. Raises
    DomainError."""
    bucket, _, prefix = address.removeprefix(SCHEME).partition("/")
    if not address.startswith(SCHEME) or not bucket:
        raise DomainError(f"{address} is not an address such as s3://bucket/folder.")
    return bucket, prefix


def files_in(address: str) -> Iterator[BucketFile]:
    """The files of a folder of a bucket, in the order of their keys. Raises DomainError."""
    bucket, prefix = bucket_of(address)
    # A folder does not include another one whose name begins with its name.
    prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    pages = _client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    try:
        for page in pages:
            for entry in page.get("Contents", []):
                if not entry["Key"].endswith("/"):
                    yield BucketFile(bucket, entry["Key"], entry["Size"])
    except (BotoCoreError, ClientError) as error:
        raise DomainError(f"{address} cannot be listed: {one_line(error)}") from error


def read_file(file: BucketFile) -> bytes:
    """The content of a file. Raises RequestFailed."""
    try:
        answer = _client().get_object(Bucket=file.bucket, Key=file.key)
        content: bytes = answer["Body"].read()
    except (BotoCoreError, ClientError, OSError) as error:
        raise RequestFailed(one_line(error)) from error
    return content


def _client() -> Any:
    """A client that signs its requests with the site's keys for S3; without keys it signs none, as
    public buckets need. It never uses the requester's keys."""
    config = Config(connect_timeout=10, read_timeout=60, retries={"max_attempts": 4})
    has_keys = bool(settings.S3_ACCESS_KEY_ID)
    if not has_keys:
        config = config.merge(Config(signature_version=UNSIGNED))
    return boto3.client(
        "s3",
        endpoint_url=settings.S3_ENDPOINT_URL or None,
        aws_access_key_id=settings.S3_ACCESS_KEY_ID if has_keys else None,
        aws_secret_access_key=settings.S3_SECRET_ACCESS_KEY if has_keys else None,
        config=config,
    )
