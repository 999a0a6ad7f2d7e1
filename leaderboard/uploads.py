"""Take the JSON text out of an uploaded file: plain, or zipped. Does not use Django."""

import io
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO

from corpora.errors import DomainError
from corpora.reading.zip_files import COMPRESSIONS

MEGABYTE = 1_000_000
# nocaps' 10,600 test images with captions of 60 characters make 1.1 MB.
MOST_UPLOADED = 10 * MEGABYTE
# Reading hostile JSON takes some thirty times its size in memory.
MOST_UNPACKED = 10 * MEGABYTE
ZIP_BEGINS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# macOS adds this folder to the archives that it makes.
IGNORED = "__MACOSX/"
NOT_UNPACKED = (
    "The ZIP archive cannot be unpacked. Make it with the usual compression (deflate) and without "
    "a password."
)


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

    Raises UploadRefused.
    """
    if not content.strip():
        raise UploadRefused("The file is empty.")
    return _unpacked(content) if content.startswith(ZIP_BEGINS) else content


def _unpacked(content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entry = _only_entry(archive)
            with archive.open(entry) as file:
                return _read(file)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UploadRefused("The ZIP archive is damaged. Make it again.") from error
    except (NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise UploadRefused(NOT_UNPACKED) from error


def _only_entry(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The archive's only file, if its name and size are safe."""
    files = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir() and not entry.filename.startswith(IGNORED)
    ]
    for entry in files:
        # orig_filename: ZipInfo ends `filename` at a NUL character, and replaces backslashes on
        # Windows.
        if not _is_safe(entry.orig_filename):
            raise UploadRefused(
                f"The ZIP archive has a file with the name {entry.orig_filename[:100]!a}, which "
                "leads out of the archive's folder. Zip the JSON file alone."
            )
    if len(files) != 1:
        raise UploadRefused(
            f"The ZIP archive has {len(files)} files. It must have exactly one, a JSON file."
        )
    if not files[0].filename.lower().endswith(".json"):
        raise UploadRefused(
            f"The file in the ZIP archive is called {files[0].filename[:100]!a}. Its name must "
            "end in .json."
        )
    if files[0].compress_type not in COMPRESSIONS:
        raise UploadRefused(NOT_UNPACKED)
    return files[0]


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    is_relative = not path.is_absolute() and ".." not in path.parts
    return is_relative and not any(character in name for character in "\\:\0")


def _read(file: IO[bytes]) -> bytes:
    """Read the file, but no more than MOST_UNPACKED: the size that an archive states may be
    wrong."""
    content = file.read(MOST_UNPACKED + 1)
    if len(content) > MOST_UNPACKED:
        raise UploadRefused(
            f"The file in the ZIP archive has more than {MOST_UNPACKED // MEGABYTE} MB when "
            "unpacked."
        )
    return content
