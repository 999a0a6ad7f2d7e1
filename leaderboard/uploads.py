"""Take the JSON text out of an uploaded file: plain, or zipped. Does not use Django."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from corpora.errors import DomainError
from corpora.reading.zip_files import check_zip, unpack

MEGABYTE = 1_000_000
# nocaps' 10,600 test images with captions of 60 characters make 1.1 MB.
MOST_UPLOADED = 10 * MEGABYTE
# Reading hostile JSON takes some thirty times its size in memory.
MOST_UNPACKED = 10 * MEGABYTE
ZIP_BEGINS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
ARCHIVE = "The ZIP archive"
# Archives may have files besides the JSON file: macOS adds this folder to those that it makes.
IGNORED, MOST_FILES = "__MACOSX/", 100


class UploadRefused(DomainError):
    """The uploaded file cannot be scored; the message says why."""


def read_upload(file: IO[bytes]) -> bytes:
    """The content of an uploaded file; raises UploadRefused if it is too large."""
    content = file.read(MOST_UPLOADED + 1)
    if len(content) > MOST_UPLOADED:
        raise UploadRefused(
            f"The file has more than {MOST_UPLOADED // MEGABYTE} MB. Zip it, or check that it is "
            "the right one."
        )
    return content


def json_bytes(content: bytes) -> bytes:
    """The JSON file in an upload, which is this file itself or a ZIP archive of it alone.

    Raises UploadRefused, and MalformedFile if the archive is not safe to unpack.
    """
    if not content.strip():
        raise UploadRefused("The file is empty.")
    return _unpacked(content) if content.startswith(ZIP_BEGINS) else content


def _unpacked(content: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        archive = Path(folder, "archive")
        archive.write_bytes(content)
        check_zip(archive, ARCHIVE, most_files=MOST_FILES, most_bytes=MOST_UNPACKED)
        files: list[tuple[str, Path]] = []

        def target(name: str) -> Path:
            path = Path(folder, str(len(files)))
            files.append((name, path))
            return path

        unpack(archive, ARCHIVE, target, most_bytes=MOST_UNPACKED)
        files = [(name, path) for name, path in files if not name.startswith(IGNORED)]
        if len(files) != 1:
            raise UploadRefused(
                f"{ARCHIVE} has {len(files)} files. It must have exactly one, a JSON file."
            )
        [(name, path)] = files
        if not name.lower().endswith(".json"):
            raise UploadRefused(
                f"The file in the ZIP archive is called {name[:100]!a}. Its name must end in .json."
            )
        return path.read_bytes()
