"""Blocks of columns have the same rows and errors as the csv module."""

import csv
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.reading import blocks
from corpora.reading.blocks import BlockFile, open_blocks
from corpora.reading.files import MalformedFile
from corpora.reading.tables import explained

NAMES = ["id", "name", "note"]


def by_csv(text):
    """The (line, row) pairs under the header up to the first error, and the error."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, end = [], 1
    try:
        next(reader)
        end = reader.line_num
        for row in reader:
            if len(row) != len(NAMES):
                fields = f"{len(NAMES)} fields are expected, there are {len(row)}"
                return rows, f"f.csv:{end + 1}: {fields}"
            rows.append((end + 1, row))
            end = reader.line_num
    except csv.Error as error:
        return rows, f"f.csv:{end + 1}: {explained(error)}"
    return rows, ""


def by_blocks(path, wanted=NAMES):
    rows = []
    try:
        with open_blocks(path) as file:
            for block in file.blocks(wanted):
                assert block.lines
                columns = zip(*block.columns, strict=True)
                rows += zip(block.lines, map(list, columns), strict=True)
    except MalformedFile as error:
        return rows, str(error).replace(str(path), "f.csv")
    return rows, ""


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(blocks, "PIECE", 16)
    monkeypatch.setattr(blocks, "ROWS", 3)


PLAIN = "".join(f"{number},name {number},é{number}\n" for number in range(20))


@pytest.mark.parametrize(
    "rows",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN + '7,"two\nlines","a ""word"""\n' + PLAIN,
        PLAIN + "7,a\x0bb,\u2028\x85\n" + PLAIN,
        PLAIN + "7,too few\n" + PLAIN,
        PLAIN + "7,too,many,cells\n" + PLAIN,
        PLAIN + "1,2\n3,4,5,6\n" + PLAIN,
        PLAIN + "1,2\n,3,4,5\n" + PLAIN,
        PLAIN + "\n" + PLAIN,
        PLAIN + "\n\n\n",
        PLAIN + '7,"never closed,\n' + PLAIN,
        PLAIN + '7,"closed" too early,\n' + PLAIN,
        PLAIN + "7," + "x" * 131_073 + ",\n",
        '7,"two\r\nlines\r",\r\n' + PLAIN,
        "",
        "\n",
    ],
)
def test_rows_lines_and_mistakes_are_those_that_csv_finds(tmp_path, rows):
    text = "id,name,note\n" + rows
    path = tmp_path / "f.csv"
    path.write_bytes(text.encode())

    assert by_blocks(path) == by_csv(text)


@given(
    st.lists(st.text('ab,"\r\n', max_size=6), max_size=12).map(",".join),
    st.lists(st.integers(0, 80), max_size=6),
)
def test_any_text_is_read_as_csv_reads_it(text, cuts):
    text = "id,name,note\n" + text
    ends = sorted({place + 1 for place in cuts if text[place : place + 1] == "\n"} | {13})
    parts = [text[i:j] for i, j in zip([0, *ends], [*ends, len(text)], strict=True)]
    found, wrong = [], ""

    try:
        for block in BlockFile("f.csv", iter(parts)).blocks(NAMES):
            columns = zip(*block.columns, strict=True)
            found += zip(block.lines, map(list, columns), strict=True)
    except MalformedFile as error:
        wrong = str(error)

    assert (found, wrong) == by_csv(text)


def test_columns_come_in_the_order_they_are_asked_for(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("id,name,note\n1,one,\n2,two,b\n")

    assert by_blocks(path, ["note", "id"]) == ([(2, ["", "1"]), (3, ["b", "2"])], "")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_a_mark_and_a_header_in_quotes_are_read(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(blocks, "PIECE", 20)
    content = '\ufeff"id",name,"no\nte"\n1,one,x\n'.encode()
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(gzip.compress(content) if suffix == "csv.gz" else content)

    assert by_blocks(path, ["id", "no\nte"]) == ([(3, ["1", "x"])], "")


@pytest.mark.parametrize("line", [1, 2, 9, 21])
def test_a_line_that_is_not_utf_8_is_named(tmp_path, line):
    lines = ["id,name,note\n", *PLAIN.splitlines(keepends=True)]
    path = tmp_path / "f.csv"
    content = [one.encode() for one in lines]
    content[line - 1] = b"K\xe4fer,," + content[line - 1]
    path.write_bytes(b"".join(content))

    offset = sum(map(len, content[: line - 1])) + 1
    said = (
        f"f.csv:{line}: byte 0xE4 at offset {offset} is not UTF-8 text (in Windows-1252 it is 'ä')"
    )
    assert by_blocks(path)[1] == f"{said}; save the file as UTF-8"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "f.csv:1: the header line is missing; it names at least id, name, note"),
        (b"id,note\n", "f.csv:1: the header has no column name"),
        (b"id,name,note,id\n", "f.csv:1: the header names a column twice"),
        (b'"id,name,note\n', f"f.csv:1: {explained(csv.Error('unexpected end of data'))}"),
    ],
)
def test_a_header_that_will_not_do_is_refused(tmp_path, content, reason):
    path = tmp_path / "f.csv"
    path.write_bytes(content)

    assert by_blocks(path) == ([], reason)
