"""A CSV file for each table, by RFC 4180, in UTF-8.

Text is in quotation marks and otherwise unchanged, so that reading gives the same characters. An
empty cell without quotation marks is an unknown value. Text that a spreadsheet would take for a
formula is not changed either: a caption must come back as it was written.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from annotate.exports.content import Content, File, encoded
from annotate.exports.formats.base import Format
from annotate.exports.tables import Row, Table, Type

END = "\r\n"


def files(content: Content) -> Iterator[File]:
    for table in content.tables:
        yield File(f"{table.name}.csv", encoded(_texts(table)))


def _texts(table: Table) -> Iterator[str]:
    yield ",".join(table.names) + END
    cells = [CELLS[column.type] for column in table.columns]
    for chunk in table.chunks():
        yield "".join(_line(row, cells) for row in chunk)


def _line(row: Row, cells: list[Callable[[Any], str]]) -> str:
    texts = ["" if value is None else cell(value) for value, cell in zip(row, cells, strict=True)]
    return ",".join(texts) + END


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _json(value: Any) -> str:
    return _quoted(json.dumps(value, ensure_ascii=False))


def _boolean(value: bool) -> str:
    return "true" if value else "false"


CELLS: dict[Type, Callable[[Any], str]] = {
    Type.TEXT: _quoted,
    Type.INTEGER: str,
    Type.NUMBER: repr,
    Type.BOOLEAN: _boolean,
    Type.TEXTS: _json,
}

CSV = Format(
    name="csv", title="CSV", about="a CSV file for each table (RFC 4180, UTF-8)", files=files
)
