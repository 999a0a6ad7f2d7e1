"""Columns converted to COPY's binary format and to rows."""

import struct

import numpy as np
import pytest

from annotate.services.bulk import binary_rows, binary_stream, tuples


def columns(flags):
    numbers = np.arange(len(flags))
    return [numbers + 7, numbers / 8, np.array(flags, np.int8)]


@pytest.mark.parametrize("flags", [[0, 1, 0], [1, -1, 0], [-1, -1, -1]])
def test_a_row_has_the_length_and_value_of_each_field_and_nothing_for_null(flags):
    rows = b"".join(
        struct.pack(">hiqid", 3, 8, number + 7, 8, number / 8)
        + (struct.pack(">i", -1) if flag < 0 else struct.pack(">ib", 1, flag))
        for number, flag in enumerate(flags)
    )

    assert binary_rows(columns(flags)) == rows


def test_an_empty_block_is_not_the_end():
    stream = binary_stream(iter([columns([1]), columns([]), columns([0])]))

    parts = list(iter(lambda: stream.read(1), ""))

    assert parts[1:-1] == [binary_rows(columns([1])), binary_rows(columns([0]))]
    assert parts[0].startswith(b"PGCOPY\n")
    assert parts[-1] == b"\xff\xff"


def test_an_error_while_the_stream_is_made_is_raised():
    def blocks():
        yield columns([1])
        raise ValueError("line 3")

    stream = binary_stream(blocks())
    stream.read(1), stream.read(1)

    with pytest.raises(ValueError, match="line 3"):
        stream.read(1)
    assert str(stream.error) == "line 3"


def test_rows_for_other_databases_have_none_for_null():
    assert list(tuples(columns([1, -1]))) == [(7, 0.0, 1), (8, 0.125, None)]
