"""A release of correspondences as files.

`writing.py` put them together when the release was made, and they are kept with it. So an export
copies and computes nothing, and says the same whatever becomes of the code.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from annotate.exports.files import Files, write_files
from annotate.models import Release

SENTENCES = "sentences/"


def stored(release: Release, *, name: str) -> Iterator[str]:
    """A file of the release, piece by piece."""
    pieces = release.files.filter(name=name).order_by("pk")
    return pieces.values_list("text", flat=True).iterator(10)


CORRESPONDENCE_FILES: Files = {
    name: partial(stored, name=name)
    for name in ("correspondences.json", "boxes.json", "gold.json", "brackets.txt")
}


def write_correspondences(release: Release, out_dir: Path) -> list[Path]:
    """Write the release's files into a folder, and `sentences/` with one for each image; returns
    the files' paths and the folder's. Raises DomainError for a release of another kind."""
    paths = write_files(release, CORRESPONDENCE_FILES, out_dir, kind="correspondence")
    folder = out_dir / SENTENCES
    folder.mkdir(exist_ok=True)
    sentences = release.files.filter(name__startswith=SENTENCES)
    for name, text in sentences.values_list("name", "text").iterator():
        with (out_dir / name).open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return [*paths, folder]
