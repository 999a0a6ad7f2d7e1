"""Check and unpack ZIP archives from outside."""

import io
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from corpora.errors import DomainError
from corpora.reading.files import MalformedFile, printable, short

UTF8_NAMES = 0x800
ENCRYPTED = 0x1
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
PIECE = 1 << 20
# Room in an archive's list for each file: 46 bytes, its name, and what programs add.
ENTRY_BYTES, LIST_BYTES, READ_BYTES = 600, 100_000, 1 << 30


class UnsafeName(DomainError):
    """A file's name would lead out of its folder."""


def safe_name(name: str) -> str:
    """The path of a file in an upload, with slashes; raises UnsafeName if it leads elsewhere."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name or parts[0].endswith(":"):
        raise UnsafeName(f"The file name {short(name)} leads out of its folder.")
    return "/".join(parts)


class _File(io.FileIO):
    """A file of which at most `most` bytes are read at once. `zipfile` reads an archive's list of
    files as a whole, up to any length that the archive states."""

    def __init__(self, path: Path, most: int) -> None:
        super().__init__(path)
        self.most = most

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.most:
            raise _ListTooLong
        return super().read(size) or b""


class _ListTooLong(Exception):
    """The archive's list of files is too long."""


@contextmanager
def _opened(path: Path, name: str, most: int = READ_BYTES) -> Iterator[zipfile.ZipFile]:
    """Open an archive whose list of files has at most so many bytes; raises MalformedFile."""
    try:
        with _File(path, most) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except _ListTooLong as error:
        raise MalformedFile(name, "has too many files, or names that are too long") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as error:
        reason = printable(str(error)) or "its data end too early"
        raise MalformedFile(name, f"is not a complete ZIP file ({reason})") from error


class Contents(NamedTuple):
    """How many files an archive has, and their bytes when unpacked."""

    files: int
    size: int


def check_zip(path: Path, name: str, *, most_files: int, most_bytes: int) -> Contents:
    """What an archive says that it has; raises DomainError unless it is safe to unpack.

    Reads the archive's list only. `name` is the archive's name in messages.
    """
    with _opened(path, name, LIST_BYTES + most_files * ENTRY_BYTES) as archive:
        entries = _entries(archive)
        if len(entries) > most_files:
            raise MalformedFile(
                name, f"has {len(entries):,} files; at most {most_files:,} are allowed"
            )
        for entry in entries:
            _check_entry(entry, name)
            _checked_name(entry, name)
        size = sum(entry.file_size for entry in entries)
        if size > most_bytes:
            raise MalformedFile(
                name,
                f"would unpack to more than {most_bytes // 1_000_000:,} MB, which is the limit",
            )
        return Contents(len(entries), size)


def _entries(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [entry for entry in archive.infolist() if not entry.is_dir()]


def _check_entry(entry: zipfile.ZipInfo, name: str) -> None:
    if entry.flag_bits & ENCRYPTED:
        raise MalformedFile(name, "is protected by a password; upload one without")
    if entry.compress_type not in COMPRESSIONS:
        raise MalformedFile(name, "is compressed in an unusual way; use the usual one, deflate")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise MalformedFile(name, f"has a symbolic link, {short(entry.filename)}")


def _checked_name(entry: zipfile.ZipInfo, name: str) -> str:
    try:
        return safe_name(_decoded(entry))
    except UnsafeName as error:
        raise MalformedFile(name, f"is not safe to unpack: {error}") from error


def _decoded(entry: zipfile.ZipInfo) -> str:
    """The entry's name. Some programs write UTF-8 without saying so."""
    if not entry.flag_bits & UTF8_NAMES:
        try:
            return entry.filename.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return entry.filename


def unpack(
    path: Path,
    name: str,
    target: Callable[[str], Path],
    *,
    most_bytes: int,
    progress: Callable[[int], object] = lambda _: None,
) -> int:
    """Write each file of a checked archive to the path that `target` gives for its name.

    Returns the number of bytes. Raises MalformedFile if the content is damaged, or larger than
    `most_bytes`: the archive's own list of sizes may be false.
    """
    left = most_bytes
    with _opened(path, name) as archive:
        for entry in _entries(archive):
            with target(_checked_name(entry, name)).open("wb") as out:
                left -= _copy(archive, entry, out, left, name)
            progress(1)
    return most_bytes - left


def _copy(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: IO[bytes], most: int, name: str
) -> int:
    """Write an entry's content, and return its size; raises MalformedFile above `most` bytes."""
    size = 0
    with archive.open(entry) as packed:
        while piece := packed.read(PIECE):
            size += len(piece)
            if size > most:
                raise MalformedFile(name, "unpacks to more than is allowed")
            out.write(piece)
    return size
