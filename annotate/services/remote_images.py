"""Files to import from a bucket or from URLs: each is fetched once, and its source is recorded.

An address that an image of the split was fetched from is not asked again, so an interrupted import
continues where it stopped.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from django.conf import settings

from annotate.models import Image, ImageSource
from annotate.services.images import BrokenFile
from annotate.services.own_images import Found, KnownFile, OwnFile, is_system_file
from background.outgoing.buckets import BucketFile, bucket_of, files_in, read_file
from background.outgoing.exchange import RequestFailed, fetch
from corpora.errors import DomainError
from corpora.reading.files import decoded

# Of an image's column `url`.
LONGEST_URL = 500


class Remote(NamedTuple):
    """An address, the name that its image gets, and the function that fetches the content."""

    url: str
    name: str
    read: Callable[[], bytes]


def fetched(remotes: Iterable[Remote], *, split: str) -> Iterator[Found]:
    """The files at these addresses, each in a temporary file that exists until the next one."""
    own = Image.objects.filter(split=split, source=ImageSource.OWN).exclude(url="")
    urls = set(own.values_list("url", flat=True))
    with tempfile.TemporaryDirectory() as folder:
        for remote in remotes:
            if remote.url in urls:
                yield KnownFile(remote.name)
                continue
            urls.add(remote.url)
            yield _fetched(remote, Path(folder))


def _fetched(remote: Remote, folder: Path) -> Found:
    if len(remote.url) > LONGEST_URL:
        return BrokenFile(remote.url, f"has an address of more than {LONGEST_URL} characters")
    try:
        content = remote.read()
    except RequestFailed as error:
        return BrokenFile(remote.url, f"could not be fetched. {error}")
    # The suffix may say what the content is.
    path = folder / f"image{Path(remote.name).suffix[:10]}"
    path.write_bytes(content)
    return OwnFile(path, remote.name, remote.url)


def files_at_urls(listing: Path) -> list[Remote]:
    """The images at the URLs in a text file, one in each line; empty lines and lines that begin
    with # are skipped. Raises DomainError."""
    try:
        content = listing.read_bytes()
    except OSError as error:
        raise DomainError(f"{listing}: {error.strerror}") from error
    lines = [line.strip() for line in decoded(listing.name, content).splitlines()]
    urls = dict.fromkeys(line for line in lines if line and not line.startswith("#"))
    if not urls:
        raise DomainError(f"{listing} has no URL.")
    return [_at_url(url) for url in urls]


def _at_url(url: str) -> Remote:
    def read() -> bytes:
        return fetch(
            url,
            seconds=settings.IMAGE_FETCH_SECONDS,
            most_bytes=settings.IMAGE_MAX_MB * 1_000_000,
            allows_private=settings.IMAGES_FROM_PRIVATE_NETWORKS,
        )

    return Remote(url, _name(url), read)


def _name(url: str) -> str:
    """The path of the URL as a file's name, with the query if it has one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    name = unquote(parts.path).strip("/") + (f"?{parts.query}" if parts.query else "")
    return name or parts.netloc or url


def files_in_bucket(address: str) -> list[Remote]:
    """The images in a folder of a bucket, named by their paths in it. Raises DomainError."""
    _, prefix = bucket_of(address)
    files = [file for file in files_in(address) if not is_system_file(file.key)]
    if not files:
        raise DomainError(f"{address} has no files.")
    most = settings.IMAGE_MAX_MB * 1_000_000

    def remote(file: BucketFile) -> Remote:
        def read() -> bytes:
            if file.size > most:
                raise RequestFailed(f"It is larger than {settings.IMAGE_MAX_MB} MB.")
            return read_file(file)

        return Remote(file.url, file.key.removeprefix(prefix).lstrip("/"), read)

    return [remote(file) for file in files]
