"""A Parquet file for each table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from annotate.exports.formats.base import DataFiles, Format, Pipe
from annotate.exports.tables import Content, Table, Type
from corpora.writing import File

if TYPE_CHECKING:
    import pyarrow


def files(content: Content) -> Iterator[File]:
    for table in content.tables:
        yield File(f"{table.name}.parquet", _chunks(table))


def data_files(content: Content) -> list[DataFiles]:
    return [DataFiles(table.name, [f"{table.name}.parquet"]) for table in content.tables]


def _chunks(table: Table) -> Iterator[bytes]:
    """The file, a row group at a time."""
    import pyarrow
    import pyarrow.parquet

    schema, pipe = _schema(table), Pipe()
    with pyarrow.parquet.ParquetWriter(pipe, schema) as writer:
        for rows in table.batches():
            columns = zip(zip(*rows, strict=True), schema.types, strict=True)
            arrays = [pyarrow.array(values, type=type_) for values, type_ in columns]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))
            yield pipe.take()
    yield pipe.take()


def _schema(table: Table) -> "pyarrow.Schema":
    import pyarrow

    types = {
        Type.TEXT: pyarrow.string(),
        Type.INTEGER: pyarrow.int64(),
        Type.NUMBER: pyarrow.float64(),
        Type.BOOLEAN: pyarrow.bool_(),
        Type.TEXTS: pyarrow.list_(pyarrow.string()),
    }
    fields = [
        pyarrow.field(column.name, types[column.type], metadata={"description": column.about})
        for column in table.columns
    ]
    return pyarrow.schema(fields, metadata={"description": table.about})


PARQUET = Format(
    name="parquet",
    title="Parquet",
    about="a Parquet file for each table; needs pyarrow",
    files=files,
    packages=("pyarrow",),
    data_files=data_files,
)
