"""Open files from outside, and decode their bytes as text."""

import codecs
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from reprlib import Repr
from typing import Any

from corpora.errors import DomainError
from corpora.wording import counted

# Further entries are only counted: a file may have millions.
MOST_KEPT = 1_000


@dataclass
class Faults:
    """The number of skipped entries, and line and reason of the first MOST_KEPT."""

    count: int = 0
    kept: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        self.count += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((line, reason))

    def lines(self, most: int) -> Iterator[str]:
        """One line of text for each of the first `most` entries, and one for the rest."""
        for line, reason in self.kept[:most]:
            yield f"line {line}: {reason}"
        if self.count > most:
            yield f"and {counted(self.count - most, 'more line')}"


# Called with the number of bytes read since the last call.
Progress = Callable[[int], object]
READ_SIZE = 1 << 18
# Byte order marks. UTF-32's little-endian mark begins with UTF-16's, so it comes first.
MARKS = [
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
SAMPLE = 4096
# A JSON array may be on one line. A longer line does not fit in memory.
MOST_IN_A_LINE = 200_000_000
LIKELY = "cp1252"


def no_progress(size: int) -> None:
    """Ignore the progress; the default of callers that do not show it."""


class MalformedFile(DomainError):
    """A file cannot be imported; the message names the file, the line and the reason."""

    def __init__(self, name: Path | str, reason: str, line: int | None = None) -> None:
        place = str(name) if line is None else f"{name}:{line}"
        super().__init__(printable(f"{place}: {reason}"))


def printable(text: str) -> str:
    """The text with escapes in place of unprintable characters, on one line for a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def short(value: object) -> str:
    """The representation of a value for an error message, shortened if it is long or deep."""
    return _QUOTE.repr(value)


_QUOTE = Repr()
_QUOTE.maxstring = _QUOTE.maxother = 80


class Text:
    """An open text file: UTF-8, or UTF-16 or UTF-32 if its first bytes say so.

    Line ends are not changed. Reading raises MalformedFile at bytes that are not text and at a NUL
    character.
    """

    def __init__(self, name: Path | str, binary: Any) -> None:
        self.name = name
        self._binary = binary
        mark, self._encoding = _encoding_of(binary.read(SAMPLE))
        binary.seek(len(mark))
        self._position = len(mark)

    def pieces(self, size: int = READ_SIZE) -> Iterator[str]:
        """The text in pieces of about `size` bytes, which never split a CR LF pair."""
        decoder = codecs.getincrementaldecoder(self._encoding)()
        line, held = 1, ""
        for piece in chain(iter(partial(self._binary.read, size), b""), [b""]):
            try:
                text = held + decoder.decode(piece, not piece)
            except UnicodeDecodeError as error:
                raise self._not_text(error, piece, line, held) from error
            self._check(text, line)
            self._position += len(piece)
            held = "\r" if piece and text.endswith("\r") else ""
            text = text.removesuffix(held)
            line += count_lines(text)
            if text:
                yield text

    def lines(self) -> Iterator[str]:
        """The lines as an editor numbers them, each with its line end."""
        begun: list[str] = []
        number = 1
        for piece in self.pieces():
            for line in io.StringIO(piece, newline=""):
                begun.append(line)
                if line.endswith(("\n", "\r")):
                    yield "".join(begun) if len(begun) > 1 else line
                    begun.clear()
                    number += 1
            if sum(map(len, begun)) > MOST_IN_A_LINE:
                reason = f"a line has more than {MOST_IN_A_LINE:,} characters"
                raise MalformedFile(self.name, reason, number)
        if begun:
            yield "".join(begun)

    def read(self) -> str:
        return "".join(self.pieces())

    def _check(self, text: str, line: int) -> None:
        place = text.find("\0")
        if place >= 0:
            line += count_lines(text[:place])
            reason = "a NUL character (U+0000), which no text file has; it may be of another kind"
            raise MalformedFile(self.name, reason, line)

    def _not_text(
        self, error: UnicodeDecodeError, piece: bytes, line: int, held: str
    ) -> MalformedFile:
        begins = self._position + len(piece) - len(error.object)
        before = held + error.object[: error.start].decode(self._encoding)
        wrong = error.object[error.start]
        name = self._encoding.removesuffix("-le").removesuffix("-be").upper()
        reason = f"byte 0x{wrong:02X} at offset {begins + error.start} is not {name} text"
        if self._encoding == "utf-8":
            likely = bytes([wrong]).decode(LIKELY, "replace")
            if likely.isprintable() and likely != "\ufffd":
                reason += f" (in Windows-1252 it is {likely!r})"
            reason += "; save the file as UTF-8"
        return MalformedFile(self.name, reason, line + count_lines(before))


def count_lines(text: str) -> int:
    """The number of line ends in the text: line feeds, carriage returns, or both together."""
    count = text.count("\n")
    return count + text.count("\r") - text.count("\r\n") if "\r" in text else count


def _encoding_of(sample: bytes) -> tuple[bytes, str]:
    """The byte order mark at the beginning of the text, perhaps empty, and the encoding."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return mark, encoding
    # In UTF-16 text without a mark, every other byte of common letters is zero.
    half = len(sample) // 2
    zeros = sample[: 2 * half : 2].count(0), sample[1 : 2 * half : 2].count(0)
    if max(zeros) > 0.6 * half and min(zeros) < 0.2 * half:
        return b"", "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return b"", "utf-8"


class _Watched(io.FileIO):
    """A file that reports how many bytes were read."""

    def __init__(self, path: Path, progress: Progress) -> None:
        super().__init__(path)
        self._progress = progress

    def readinto(self, buffer: Any) -> int:
        size = super().readinto(buffer)
        self._progress(size or 0)
        return size


@contextmanager
def open_text(
    path: Path, progress: Progress = no_progress, *, name: str | None = None
) -> Iterator[Text]:
    """Open a file as text, unpacking `.gz` files; `name` is its name in error messages.

    Errors of the disk and of unpacking inside the block are raised as MalformedFile.
    """
    name = name or str(path)
    try:
        packed = io.BufferedReader(_Watched(path, progress), READ_SIZE)
    # A path with a NUL character raises ValueError.
    except (OSError, ValueError) as error:
        raise MalformedFile(name, getattr(error, "strerror", "") or "cannot be opened") from error
    with packed:
        if not packed.seekable():
            raise MalformedFile(name, "a pipe cannot be read; save its output as a file")
        try:
            yield Text(name, gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise MalformedFile(name, f"cannot be unpacked ({error})") from error
        except OSError as error:
            raise MalformedFile(name, error.strerror or "cannot be read") from error


def is_file(path: Path) -> bool:
    """Whether there is a file with this path; no if the path is too long, or in a closed folder."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Like `is_file`, for a folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_json(path: Path) -> bool:
    """Whether a file is JSON by its name, packed or not."""
    return path.name.removesuffix(".gz").endswith(".json")


@contextmanager
def rereadable(name: str) -> Iterator[tuple[Path, str]]:
    """The path of a file that can be read more than once, and its name for error messages.

    For `-`, standard input is copied to a temporary file, which is deleted after the block.
    """
    if name != "-":
        yield Path(name), name
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path, "standard input"


def decoded(name: str, content: bytes) -> str:
    """The text of a small file whose content is in memory; raises MalformedFile."""
    return Text(name, io.BytesIO(content)).read()
