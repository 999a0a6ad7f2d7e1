"""Read large CSV files as blocks of columns.

A loop over a million rows takes longer than the database needs to store them.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from corpora.reading.files import MalformedFile, Progress, Text, no_progress, open_text
from corpora.reading.tables import MOST_IN_A_CELL, CsvFile, explained

# Characters per block: small enough to stay in the processor's cache while it is split.
PIECE = 1 << 15
ROWS = 1_000


class Block(NamedTuple):
    """Consecutive rows: the line on which each begins, and the requested columns."""

    lines: Sequence[int]
    columns: Sequence[Sequence[str]]


class BlockFile:
    """An open CSV file whose rows are as long as its header. Gives the same rows as `csv`."""

    def __init__(self, path: Path, texts: Iterator[str]) -> None:
        self.path = path
        self._texts = texts
        self._start = io.StringIO(next(texts, ""), newline="")
        self._head = CsvFile(path, self._start)

    def wrong(self, reason: str, line: int) -> MalformedFile:
        """The error to raise about the row on this line."""
        return MalformedFile(self.path, reason, line)

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the columns with these names, block by block.

        Raises MalformedFile at once if the header lacks a column, and at a row that cannot be read
        or has the wrong length after yielding the rows before it.
        """
        names = self._head.header(wanted)
        places = [names.index(name) for name in wanted]
        line = self._head.end
        for text in chain([self._start.read()], self._texts):
            cells = _cells(text, len(names), self._head.separator)
            if cells is None:
                texts = chain([text], self._texts)
                yield from self._blocks_by_csv(texts, line, len(names), places)
                return
            if rows := len(cells) // (len(names) + 1):
                columns = [cells[place :: len(names) + 1] for place in places]
                yield Block(range(line + 1, line + 1 + rows), columns)
                line += rows

    def _blocks_by_csv(
        self, texts: Iterator[str], before: int, width: int, places: Sequence[int]
    ) -> Iterator[Block]:
        lines = chain.from_iterable(io.StringIO(text, newline="") for text in texts)
        reader = csv.reader(lines, delimiter=self._head.separator, strict=True)
        failure: MalformedFile | None = None
        end = before
        while failure is None:
            rows: list[list[str]] = []
            begins: list[int] = []
            try:
                for row in islice(reader, ROWS):
                    if len(row) != width:
                        reason = f"{width} fields are expected, there are {len(row)}"
                        raise self.wrong(reason, end + 1)
                    rows.append(row)
                    begins.append(end + 1)
                    end = before + reader.line_num
            except MalformedFile as error:
                failure = error
            except csv.Error as error:
                failure = self.wrong(explained(error), end + 1)
            if rows:
                columns = list(zip(*rows, strict=True))
                yield Block(begins, [columns[place] for place in places])
            elif failure is None:
                return
        raise failure


def _cells(text: str, width: int, separator: str) -> list[str] | None:
    """The cells of whole lines, with a line feed as an extra cell after each `width` cells.

    None if the text needs the `csv` module: it has quoted cells, or a row of the wrong length.
    """
    text = text.replace("\r\n", "\n")
    if '"' in text or "\r" in text or len(text) > MOST_IN_A_CELL:
        return None
    if text and not text.endswith("\n"):
        text += "\n"
    rows = text.count("\n")
    cells = text.replace("\n", f"{separator}\n{separator}").split(separator)
    # The text after the last end mark is empty.
    cells.pop()
    # There are as many end marks as lines, and each is where a row ends, so all rows have the right
    # length.
    marks = cells[width :: width + 1]
    if len(cells) != rows * (width + 1) or marks.count("\n") != rows:
        return None
    return cells


@contextmanager
def open_blocks(path: Path, progress: Progress = no_progress) -> Iterator[BlockFile]:
    """Open the file for reading in blocks; inside the block, its faults raise MalformedFile."""
    with open_text(path, progress) as text:
        yield BlockFile(path, _whole_lines(text))


def _whole_lines(text: Text) -> Iterator[str]:
    """The text in pieces that end at the end of a line; raises MalformedFile."""
    kept: list[str] = []
    for piece in text.pieces(PIECE):
        if cut := piece.rfind("\n") + 1:
            yield "".join([*kept, piece[:cut]])
            kept.clear()
        kept.append(piece[cut:])
    yield "".join(kept)
