"""Decoding files: encodings, line numbers, and files that are refused."""

import codecs
import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.reading import files
from corpora.reading.entries import open_entries
from corpora.reading.files import MalformedFile, decoded, open_text
from corpora.reading.json_files import NotJson, parse_json, read_json, unstorable
from corpora.reading.tables import separator_of


def lines_of(path):
    with open_text(path) as text:
        return list(text.lines())


@pytest.fixture
def write(tmp_path):
    def write_bytes(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write_bytes


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_the_encoding_is_found(write, mark, encoding, name):
    text = "image,caption\r\n1,Ein schöner Tag – 🐕\r\n"
    content = mark + text.encode(encoding)

    path = write(gzip.compress(content) if name.endswith("gz") else content, name)

    assert "".join(lines_of(path)) == text


@given(st.text("aé🐕\r\n\u2028\x0b\x85", max_size=60), st.integers(1, 9))
def test_lines_end_as_in_an_editor_wherever_the_pieces_do(text, size):
    expected = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = files.Text("f", _Slow(text.encode(), size))

    lines = list(found.lines())

    assert "".join(lines) == text
    assert [line.rstrip("\r\n") for line in lines] == expected[: len(lines)]
    assert len(lines) == len(expected) - (expected[-1] == "")


class _Slow:
    """A file that returns a few bytes per read, except for the first read."""

    def __init__(self, content, size):
        self._content, self._size, self._at = content, size, 0

    def read(self, wanted):
        size = wanted if wanted == files.SAMPLE else self._size
        piece = self._content[self._at : self._at + size]
        self._at += len(piece)
        return piece

    def seek(self, place):
        self._at = place


@given(
    st.lists(st.text("aé\r\n", max_size=8), max_size=12).map("".join),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.integers(1, 9),
)
def test_bytes_that_are_no_text_are_named_by_offset_and_line(text, encoding, size):
    before = f"x{text}".encode(encoding)
    broken = b"\x00\xd8x\x00" if encoding == "utf-16" else b"\xff"
    line = (
        1
        + len(f"x{text}".replace("\r\n", "\n").replace("\r", "\n"))
        - len(f"x{text}".replace("\r\n", "\n").replace("\r", "\n").replace("\n", ""))
    )

    with pytest.raises(MalformedFile, match=rf"^f:{line}: byte .* at offset {len(before)} is not"):
        files.Text("f", _Slow(before + broken + b"more", size)).read()


def test_a_file_that_cannot_be_read_is_named_in_one_line(write, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_IN_A_LINE", 10)
    endless = write(b"short\n" + b"x" * 11, "long")
    cut = write(gzip.compress(b"text" * 99)[:20], "cut.gz")

    for path, reason in [
        (endless, ":2: a line has more than 10 characters"),
        (cut, ": cannot be unpacked"),
        (tmp_path, ": Is a directory"),
        (tmp_path / "none", ": No such file or directory"),
        (write(b"a\n\x00"), ":2: a NUL character"),
    ]:
        with pytest.raises(MalformedFile) as refused:
            lines_of(path)
        assert str(refused.value).startswith(f"{path}{reason}")


def test_a_sentence_can_follow_the_reason(write):
    with pytest.raises(MalformedFile, match=r"[a-z]$"):
        lines_of(write(b"\x00"))


def test_a_pipe_is_refused(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b""])
    writer.start()

    with pytest.raises(MalformedFile, match="a pipe cannot be read; save its output as a file"):
        lines_of(path)

    writer.join()


def test_a_small_file_in_memory_is_read_the_same_way():
    assert decoded("f", "name = 1\n".encode("utf-16")) == "name = 1\n"
    with pytest.raises(MalformedFile, match="^f:2: byte 0xE9 at offset 2 is not UTF-8 text"):
        decoded("f", b"a\n\xe9")


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        ("a,b,c", ","),
        ("a;b;c", ";"),
        ("a\tb\tc", "\t"),
        ("a|b|c", "|"),
        ('"a,b";"c,d";e', ";"),
        ("a;b,c", ","),
        ("alone", ","),
        ("", ","),
    ],
)
def test_the_separator_is_the_one_that_gives_the_most_cells(line, separator):
    assert separator_of(line) == separator


def test_a_first_line_that_is_too_long_for_a_cell_is_refused(write):
    with (
        pytest.raises(MalformedFile, match=":1: a cell has more than 10,000,000 characters"),
        open_entries(write(b"x" * 10_000_001)),
    ):
        pass


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ('{"a":\n}', "not valid JSON: Expecting value", 2),
        ('{\r\n"a": "\\ud800"}', r"half of a surrogate pair \(U\+D800\)", 2),
        ('\n\n["\\u0000"]', "NUL character", 3),
        ('{"\\udc00": 1}', "surrogate pair", 1),
        ("[" * 100_000, "nested too deeply", 1),
        ("9" * 5_000, "more digits", 1),
    ],
)
def test_json_that_cannot_be_used_is_refused_with_its_line(write, text, reason, line):
    with pytest.raises(NotJson, match=reason) as refused:
        parse_json(text)
    path = write(text.encode())

    assert refused.value.line == line
    with pytest.raises(MalformedFile, match=f"file:{line}: .*{reason}"):
        read_json(path)


def test_pairs_of_surrogates_and_escaped_backslashes_are_text():
    assert parse_json('["\\ud83d\\udc15", "\\\\u0000", "\\\\ud800"]') == [
        "🐕",
        "\\u0000",
        "\\ud800",
    ]


def test_a_text_that_cannot_be_stored_is_found_however_deep():
    deep = ["fine"]
    for _ in range(5_000):
        deep = [deep, {"a": 1}]

    assert unstorable(deep) == ""
    assert "U+DFFF" in unstorable([deep, {"\udfff": 1}])


def test_entries_of_all_three_forms_are_the_same(write):
    forms = {
        "lines": b'{"a": "1", "b": "x"}\n\n{"a": "2", "b": ""}\n',
        "array": b'[{"a": "1", "b": "x"},\n\n{"a": "2", "b": ""}]',
        "table": b"a\tb\n1\tx\n2\n",
    }

    found = {}
    for name, content in forms.items():
        with open_entries(write(content, name)) as file:
            found[name] = [(entry.line, dict(entry.values)) for entry in file.rows]

    first, second = {"a": "1", "b": "x"}, {"a": "2", "b": ""}
    assert found["lines"] == found["array"] == [(1, first), (3, second)]
    assert found["table"] == [(2, first), (3, second)]


@pytest.mark.parametrize(("count", "last"), [(3, "and 1 more line"), (4, "and 2 more lines")])
def test_faults_beyond_those_named_are_counted(count, last):
    faults = files.Faults()
    for line in range(1, count + 1):
        faults.add(line, "no caption")

    assert list(faults.lines(2)) == ["line 1: no caption", "line 2: no caption", last]
