"""A release of correspondences as files.

`writing.py` put them together when the release was made, and they are kept with it. So an export
copies and computes nothing, and says the same whatever becomes of the code.
"""

from pathlib import Path

from annotate.exports.files import write_files
from annotate.exports.stored import stored_files
from annotate.models import Release

SENTENCES = "sentences/"


CORRESPONDENCE_FILES = stored_files(
    "correspondences.json", "boxes.json", "gold.json", "brackets.txt"
)


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
