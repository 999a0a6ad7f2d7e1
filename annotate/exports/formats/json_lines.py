"""A JSON lines file for each table, and `metadata.jsonl` in the form of an image folder.

`load_dataset("imagefolder", …)` of the package `datasets` reads `metadata.jsonl`: a line for each
image, whose `file_name` is the image's path.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotate.exports.formats.base import TYPES, DataFiles, Format
from annotate.exports.images import IMAGES, image_paths
from annotate.exports.tables import CHUNK, Content, Table, Type, lists
from corpora.writing import File, dump, encoded
from shared.database.transactions import batches

METADATA = "metadata.jsonl"
# Characters that JSON leaves as they are, but that some programs take for the end of a line.
LINE_ENDS = {character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


def files(content: Content) -> Iterator[File]:
    yield File(METADATA, encoded(_lines(_images(content))))
    for table in content.tables[1:]:
        yield File(f"{table.name}.jsonl", encoded(_lines(_rows(table, content))))


def data_files(content: Content) -> list[DataFiles]:
    """The tables for `datasets`. It reads all of them in the same way, so that with image files
    only tables whose rows have an image can be read."""
    names = [(table, f"{table.name}.jsonl") for table in content.tables[1:]]
    if content.has_images:
        return [
            DataFiles("images", [METADATA, f"{IMAGES}/**"]),
            *(
                DataFiles(table.name, [name], {"metadata_filenames": [name]})
                for table, name in names
                if _has_image(table)
            ),
        ]
    lists = [{"name": table.name, "list": "string"} for table in content.tables if table.listed]
    return [
        DataFiles("images", [METADATA], {"features": [*_features(content.images), *lists]}),
        *(DataFiles(table.name, [name], {"features": _features(table)}) for table, name in names),
    ]


def _features(table: Table) -> list[dict[str, str]]:
    """The types of the columns, which a reader would otherwise take from the first rows."""
    return [{"name": column.name} | TYPES[column.type] for column in table.columns]


def _has_image(table: Table) -> bool:
    return "image_id" in table.names


def _rows(table: Table, content: Content) -> Iterable[Mapping[str, Any]]:
    """The rows; each with its image's file, if the export has the files."""
    if not content.has_images or not _has_image(table):
        return table.dicts()
    paths = image_paths(content.images)
    return (row | {"file_name": paths[row["image_id"]]} for row in table.dicts())


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for batch in batches(rows, CHUNK):
        text = "\n".join(map(dump, batch)) + "\n"
        for character, escape in LINE_ENDS.items():
            text = text.replace(character, escape)
        yield text


def _images(content: Content) -> Iterator[dict[str, Any]]:
    """The images, each with the values of the listed columns of the other tables."""
    listed = {table.name: lists(table, "image_id") for table in content.tables if table.listed}
    texts = [column.name for column in content.images.columns if column.type == Type.TEXT]
    paths = image_paths(content.images)
    for row in content.images.dicts():
        # Readers infer the type of a column from its first rows, so unknown texts are empty.
        stated = {name: row[name] or "" for name in texts}
        more = {name: by_image.get(row["image_id"], []) for name, by_image in listed.items()}
        yield row | stated | more | {"file_name": paths[row["image_id"]]}


JSON_LINES = Format(
    name="jsonl",
    title="JSON lines",
    about="metadata.jsonl for the image folders of the package datasets, and JSON lines for each "
    "table",
    files=files,
    data_files=data_files,
)
