"""The bytes of a file from outside as text."""

import codecs
import gzip
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from reprlib import Repr
from typing import Any

from annotate.errors import DomainError

# Told how many bytes were read since it was last told.
Progress = Callable[[int], object]
READ_SIZE = 1 << 18
# The marks that may begin a text; UTF-32's little-endian mark begins with UTF-16's.
MARKS = [
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
SAMPLE = 4096
# A JSON array may stand in one line; what is longer does not fit in memory.
MOST_IN_A_LINE = 200_000_000
LIKELY = "cp1252"


def no_progress(size: int) -> None:
    """For callers that show none."""


class MalformedFile(DomainError):
    """A file that cannot be imported; the message names the file, the line and the reason."""

    def __init__(self, name: Path | str, reason: str, line: int | None = None) -> None:
        place = str(name) if line is None else f"{name}:{line}"
        super().__init__(printable(f"{place}: {reason}"))


def printable(text: str) -> str:
    """The text on one line, for a terminal: what cannot be printed is written as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def short(value: object) -> str:
    """A value as an error message quotes it, cut where it is long or deep."""
    return _QUOTE.repr(value)


_QUOTE = Repr()
_QUOTE.maxstring = _QUOTE.maxother = 80


class Text:
    """An open file as text: UTF-8, or UTF-16 or UTF-32 where its first bytes say so. Line ends stay
    as they are. Reading raises MalformedFile at bytes that are not text, and at a NUL."""

    def __init__(self, name: Path | str, binary: Any) -> None:
        self.name = name
        self._binary = binary
        mark, self._encoding = _encoding_of(binary.read(SAMPLE))
        binary.seek(len(mark))
        self._position = len(mark)

    def pieces(self, size: int = READ_SIZE) -> Iterator[str]:
        """The text in pieces of some `size` bytes; none ends between a carriage return and its
        line feed."""
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
        """The lines as an editor numbers them, each with its end."""
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
        """All of the text."""
        return "".join(self.pieces())

    def _check(self, text: str, line: int) -> None:
        place = text.find("\0")
        if place >= 0:
            line += count_lines(text[:place])
            reason = (
                "a NUL character (U+0000), which no text file has: is it a file of another kind?"
            )
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
    """How many lines end in the text: at a line feed, a carriage return, or both together."""
    count = text.count("\n")
    return count + text.count("\r") - text.count("\r\n") if "\r" in text else count


def _encoding_of(sample: bytes) -> tuple[bytes, str]:
    """The mark that the text begins with, which may be empty, and the encoding."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return mark, encoding
    # Without a mark, UTF-16 shows in that every other byte of common letters is zero.
    half = len(sample) // 2
    zeros = sample[: 2 * half : 2].count(0), sample[1 : 2 * half : 2].count(0)
    if max(zeros) > 0.6 * half and min(zeros) < 0.2 * half:
        return b"", "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return b"", "utf-8"


class _Watched(io.FileIO):
    """A file that tells how much of it was read."""

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
    """The file's text, `.gz` unpacked; `name` is what errors call it. What the disk or zlib finds
    wrong while the block runs is raised as MalformedFile."""
    name = name or str(path)
    try:
        packed = io.BufferedReader(_Watched(path, progress), READ_SIZE)
    # A path may also hold what no path can.
    except (OSError, ValueError) as error:
        raise MalformedFile(name, getattr(error, "strerror", "") or "cannot be opened") from error
    with packed:
        if not packed.seekable():
            raise MalformedFile(name, "a pipe cannot be read; save what it gives as a file")
        try:
            yield Text(name, gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise MalformedFile(name, f"cannot be unpacked ({error})") from error
        except OSError as error:
            raise MalformedFile(name, error.strerror or "cannot be read") from error


@contextmanager
def rereadable(name: str) -> Iterator[tuple[Path, str]]:
    """A file that can be read more than once, and what errors call it: the one of this name, or
    standard input for `-`, which is kept in a temporary file meanwhile."""
    if name != "-":
        yield Path(name), name
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path, "standard input"


def decoded(name: str, content: bytes) -> str:
    """The text of a small file that is in memory already; raises MalformedFile."""
    return Text(name, io.BytesIO(content)).read()
