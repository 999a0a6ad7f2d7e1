"""CSV for people who open it in a spreadsheet."""

import csv
from io import StringIO

import pytest

from shared.tables import CHUNK, csv_download, csv_lines


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_a_text_that_would_be_a_formula_gets_an_apostrophe(start):
    [line] = csv_lines([f"{start}1"], ())

    assert f"'{start}1" in line


def test_other_texts_and_numbers_stay_as_they_are():
    assert [*csv_lines(["a=1", -2, None, ""], ())] == ["a=1,-2,,\n"]


def test_a_long_table_comes_in_chunks():
    chunks = list(csv_lines(["n"], ([n] for n in range(CHUNK + 1))))

    assert len(chunks) == 3
    assert "".join(chunks).splitlines() == ["n", *map(str, range(CHUNK + 1))]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_line_breaks_of_any_kind_stay_inside_their_cell(end):
    rows = [["caption", "worker"], [f"a dog{end}on grass", "1"], ["a cat", f"2{end}"]]

    text = "".join(csv_lines(rows[0], rows[1:]))

    assert list(csv.reader(StringIO(text, newline=""))) == rows
    assert text.startswith("caption,worker\n")


def test_a_file_is_downloaded_under_its_name():
    answer = csv_download("people", csv_lines(["name"], [["=cmd"]]))

    assert answer.getvalue() == b"name\n'=cmd\n"
    assert answer["Content-Disposition"] == 'attachment; filename="people.csv"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
