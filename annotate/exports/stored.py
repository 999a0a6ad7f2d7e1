"""Files of a release that are computed and stored when the release is made.

An export copies them, so it gives the same files even if the code changes.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from annotate.exports.files import Files
from annotate.models import Release, ReleasedFile

# Characters of a file in one row.
PIECE = 200_000


def stored_files(*names: str) -> Files:
    """Functions that yield the files with these names, as stored by the task type's `freeze`."""
    return {name: partial(stored, name=name) for name in names}


def stored(release: Release, *, name: str) -> Iterator[str]:
    """The content of a file in pieces."""
    pieces = release.files.filter(name=name).order_by("pk")
    return pieces.values_list("text", flat=True).iterator(10)


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
