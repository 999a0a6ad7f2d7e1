"""A CSV file for each table, by RFC 4180, in UTF-8.

Text is in quotation marks and otherwise unchanged, so that reading gives the same characters. An
empty cell without quotation marks is an unknown value. Text that a spreadsheet would take for a
formula is not changed either: a caption must come back as it was written.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from annotate.exports.formats.base import TYPES, DataFiles, Format
from annotate.exports.tables import Content, Row, Table, Type
from corpora.writing import File, encoded

END = "\r\n"


def files(content: Content) -> Iterator[File]:
    for table in content.tables:
        yield File(f"{table.name}.csv", encoded(_texts(table)))


def data_files(content: Content) -> list[DataFiles]:
    return [
        DataFiles(table.name, [f"{table.name}.csv"], _options(table)) for table in content.tables
    ]


def _options(table: Table) -> dict[str, Any]:
    """How `datasets` has to read the table: texts as they are, and numbers that may be unknown.

    It knows no unknown whole number and no unknown truth value.
    """
    unknown = _with_unknown(table)
    features = []
    for column in table.columns:
        dtype = TYPES[column.type].get("dtype", "string")
        if column.name in unknown:
            dtype = "float64" if column.type == Type.INTEGER else "string"
        features.append({"name": column.name, "dtype": dtype})
    cells = {f["name"]: [""] for f in features if f["dtype"] == "float64"}
    return {"features": features, "keep_default_na": False, "na_values": cells}


def _with_unknown(table: Table) -> set[str]:
    """The columns of whole numbers and truth values in which a value is unknown."""
    typed = [
        (place, column.name)
        for place, column in enumerate(table.columns)
        if column.type in {Type.INTEGER, Type.BOOLEAN}
    ]
    return {name for row in table.rows() for place, name in typed if row[place] is None}


def _texts(table: Table) -> Iterator[str]:
    yield ",".join(table.names) + END
    cells = [CELLS[column.type] for column in table.columns]
    for batch in table.batches():
        yield "".join(_line(row, cells) for row in batch)


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
    name="csv",
    title="CSV",
    about="a CSV file for each table (RFC 4180, UTF-8)",
    files=files,
    data_files=data_files,
)
