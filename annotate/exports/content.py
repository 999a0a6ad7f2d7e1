"""What an export consists of, whatever its format: tables, the task type's own files, digests."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotate.exports.licences import Licence
from annotate.exports.tables import Extra, Table
from annotate.models import Release

MANIFEST = "manifest.json"
# Begins a new pass over the task type's own files: their names and texts.
OwnFiles = Callable[[], Iterable[tuple[str, Iterable[str]]]]


class File(NamedTuple):
    """A file of an export: its path in the folder, and its content in chunks.

    Read a file to its end before you ask for the next one.
    """

    name: str
    chunks: Iterator[bytes]


@dataclass(frozen=True)
class Content:
    """The content of a release as asked for.

    `tables` begins with the table `images`. `own_files` are the files in the task type's own
    format. `missing` has a sentence for each thing that the release lacks because it is older.
    """

    release: Release
    about: str
    tables: Sequence[Table]
    own_files: OwnFiles
    licences: Sequence[Licence]
    extras: Sequence[Extra] = ()
    missing: Sequence[str] = ()
    # How the data were collected, as pairs of a name and a value.
    collection: Sequence[tuple[str, Any]] = ()
    # Name and digest of the table of domains; None if the release has its own domains.
    domains: Mapping[str, Any] | None = None

    @property
    def images(self) -> Table:
        return self.tables[0]


class Digest:
    """The size and SHA-256 of what has passed through `of`."""

    def __init__(self) -> None:
        self.size = 0
        self._sha256 = hashlib.sha256()

    def of(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._sha256.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._sha256.hexdigest()


def encoded(texts: Iterable[str]) -> Iterator[bytes]:
    return (text.encode() for text in texts)
