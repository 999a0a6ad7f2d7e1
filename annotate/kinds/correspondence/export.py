"""Export a release of word–box links.

The files were computed by `writing.py` when the release was made, and stored with it. An export
only copies them, so it gives the same files even if the code changes.
"""

from collections.abc import Iterator
from pathlib import Path

from annotate.exports.files import write_files
from annotate.exports.stored import kept_files, stored_files
from annotate.models import Release

SENTENCES = "sentences/"


CORRESPONDENCE_FILES = stored_files(
    "correspondences.json", "boxes.json", "gold.json", "mentions.json", "brackets.txt"
)


def write_correspondences(release: Release, out_dir: Path) -> list[Path]:
    """Write the release's files into a folder, with `sentences/` containing one file per image.

    Returns the paths of the files and of that folder. Raises DomainError if the release is of
    another task type.
    """
    files = kept_files(release, CORRESPONDENCE_FILES)
    paths = write_files(release, files, out_dir, kind="correspondence")
    folder = out_dir / SENTENCES
    folder.mkdir(exist_ok=True)
    for name, texts in sentence_files(release):
        with (out_dir / name).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(texts)
    return [*paths, folder]


def sentence_files(release: Release) -> Iterator[tuple[str, list[str]]]:
    """The names and texts of the files in `sentences/`."""
    rows = release.files.filter(name__startswith=SENTENCES).order_by("pk")
    for name, text in rows.values_list("name", "text").iterator():
        yield name, [text]
