"""Files of a release that are computed when the release is made, and kept with it.

An export copies them, so it says the same even if the code changes.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from annotate.exports.files import Files
from annotate.models import Release, ReleasedFile

# Characters of a file in one row.
PIECE = 200_000


def stored_files(*names: str) -> Files:
    """The files with these names, for a kind of task whose `freeze` stores them."""
    return {name: partial(stored, name=name) for name in names}


def stored(release: Release, *, name: str) -> Iterator[str]:
    """A file of the release, piece by piece."""
    pieces = release.files.filter(name=name).order_by("pk")
    return pieces.values_list("text", flat=True).iterator(10)


def rows_of(release: Release, name: str, texts: Iterable[str]) -> Iterator[ReleasedFile]:
    """Unsaved rows that hold the file made of these texts."""
    for piece in _pieces(texts):
        yield ReleasedFile(release=release, name=name, text=piece)


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """The texts put together until a piece is long enough."""
    waiting: list[str] = []
    length = 0
    for text in texts:
        waiting.append(text)
        length += len(text)
        if length >= PIECE:
            yield "".join(waiting)
            waiting, length = [], 0
    yield "".join(waiting)
