"""Large CSV files by blocks of columns: a loop over a million rows costs more than a database."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from annotate.datasets.csv_files import (
    NOT_UTF8,
    CsvFile,
    MalformedFile,
    Progress,
    no_progress,
    open_bytes,
)

# Small enough for a block to stay in the processor's cache while it is taken apart.
PIECE = 1 << 15
ROWS = 1_000


class Block(NamedTuple):
    """Rows in a row: each one's last line in the file, and the columns that were asked for."""

    lines: Sequence[int]
    columns: Sequence[Sequence[str]]


class BlockFile:
    """An open file of rows that are as long as its header: what csv reads, in the same order."""

    def __init__(self, path: Path, texts: Iterator[str]) -> None:
        self.path = path
        self._texts = texts
        self._start = io.StringIO(next(texts, ""), newline="")
        self._head = CsvFile(path, csv.reader(self._start, strict=True))

    def wrong(self, reason: str, line: int) -> MalformedFile:
        """The error to raise about the row of that line."""
        return MalformedFile(self.path, reason, line)

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """The columns of these names. Raises MalformedFile: at once if the header lacks one of
        them, and after the rows before it at a row that cannot be read or has another length."""
        try:
            names = self._head.header(wanted)
        except csv.Error as error:
            raise self._head.wrong(str(error)) from error
        places = [names.index(name) for name in wanted]
        line = self._head.rows.line_num
        for text in chain([self._start.read()], self._texts):
            cells = _cells(text, len(names))
            if cells is None:
                rest = chain([text], self._texts)
                yield from self._blocks_by_csv(rest, line, len(names), places)
                return
            if rows := len(cells) // (len(names) + 1):
                columns = [cells[place :: len(names) + 1] for place in places]
                yield Block(range(line + 1, line + 1 + rows), columns)
                line += rows

    def _blocks_by_csv(
        self, texts: Iterator[str], before: int, width: int, places: Sequence[int]
    ) -> Iterator[Block]:
        lines = chain.from_iterable(io.StringIO(text, newline="") for text in texts)
        reader = csv.reader(lines, strict=True)
        failure: MalformedFile | None = None
        while failure is None:
            rows: list[list[str]] = []
            ends: list[int] = []
            try:
                for row in islice(reader, ROWS):
                    if len(row) != width:
                        reason = f"{width} fields are expected, there are {len(row)}"
                        raise self.wrong(reason, before + reader.line_num)
                    rows.append(row)
                    ends.append(before + reader.line_num)
            except MalformedFile as error:
                failure = error
            except csv.Error as error:
                failure = self.wrong(str(error), before + reader.line_num)
            if rows:
                columns = list(zip(*rows, strict=True))
                yield Block(ends, [columns[place] for place in places])
            elif failure is None:
                return
        raise failure


def _cells(text: str, width: int) -> list[str] | None:
    """The cells of whole lines with an end mark after each `width` of them; None where it takes
    csv to find them, or what is wrong with them."""
    text = text.replace("\r\n", "\n")
    if '"' in text or "\r" in text or len(text) > csv.field_size_limit():
        return None
    if text and not text.endswith("\n"):
        text += "\n"
    rows = text.count("\n")
    cells = text.replace("\n", ",\n,").split(",")
    # What follows the last mark.
    cells.pop()
    # As many marks as lines, each where a row ends: so no row is longer or shorter than the others.
    marks = cells[width :: width + 1]
    if len(cells) != rows * (width + 1) or marks.count("\n") != rows:
        return None
    return cells


@contextmanager
def open_blocks(path: Path, progress: Progress = no_progress) -> Iterator[BlockFile]:
    """The file to read by blocks (UTF-8 with or without a mark, any line ends, `.gz` unpacked).

    What csv, the decoder or the disk finds wrong while the block runs is raised as MalformedFile.
    """
    with open_bytes(path, progress) as binary:
        yield BlockFile(path, _whole_lines(path, binary))


def _whole_lines(path: Path, binary: Any) -> Iterator[str]:
    """The text in pieces that end where a line does; raises MalformedFile."""
    line = 1
    encoding = "utf-8-sig"
    kept: list[bytes] = []
    for piece in chain(iter(partial(binary.read, PIECE), b""), [b""]):
        cut = piece.rfind(b"\n") + 1
        if cut or not piece:
            whole = b"".join([*kept, piece[:cut]])
            kept.clear()
            try:
                yield whole.decode(encoding)
            except UnicodeDecodeError as error:
                line += whole.count(b"\n", 0, error.start)
                raise MalformedFile(path, NOT_UTF8, line) from error
            line += whole.count(b"\n")
            encoding = "utf-8"
        kept.append(piece[cut:])
