"""Files of a release that are computed and stored when the release is made.

An export copies them, so it gives the same files even if the code changes.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import partial
from io import StringIO

from annotate.exports.files import Files
from annotate.models import Release, ReleasedFile

# Characters of a file in one row.
PIECE = 200_000
# A quotation mark inside a JSON text follows a backslash, so no text matches.
WORKER = re.compile(r'"worker": \d+(?:, )?')


def stored_files(*names: str) -> Files:
    """Functions that yield the files with these names, as stored by the task type's `freeze`."""
    return {name: partial(stored, name=name) for name in names}


def kept_files(release: Release, files: Files) -> Files:
    """Those of the files that are stored with the release."""
    kept = set(release.files.filter(name__in=files).values_list("name", flat=True).distinct())
    return {name: chunks for name, chunks in files.items() if name in kept}


def stored(release: Release, *, name: str) -> Iterator[str]:
    """The content of a file in pieces."""
    pieces = release.files.filter(name=name).order_by("pk")
    return pieces.values_list("text", flat=True).iterator(10)


def without_workers(name: str, pieces: Iterable[str]) -> Iterator[str]:
    """A stored JSON or CSV file without the key or column `worker`.

    A piece of a file contains whole members of its JSON, or whole lines.
    """
    if name.endswith(".json"):
        return (WORKER.sub("", piece) for piece in pieces)
    if name.endswith(".csv"):
        return _without_column(pieces, "worker")
    return iter(pieces)


def _without_column(pieces: Iterable[str], column: str) -> Iterator[str]:
    place: int | None = None
    for number, piece in enumerate(pieces):
        rows = list(csv.reader(StringIO(piece, newline="")))
        if number == 0:
            place = rows[0].index(column) if column in rows[0] else None
        text = StringIO()
        kept = rows if place is None else (row[:place] + row[place + 1 :] for row in rows)
        csv.writer(text, lineterminator="\n").writerows(kept)
        yield text.getvalue()


def rows_of(release: Release, name: str, texts: Iterable[str]) -> Iterator[ReleasedFile]:
    """Unsaved rows that contain the file with these texts."""
    for piece in _pieces(texts):
        yield ReleasedFile(release=release, name=name, text=piece)


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Join the texts into pieces of at least PIECE characters."""
    waiting: list[str] = []
    length = 0
    for text in texts:
        waiting.append(text)
        length += len(text)
        if length >= PIECE:
            yield "".join(waiting)
            waiting, length = [], 0
    yield "".join(waiting)
