"""A JSON lines file for each table, and `metadata.jsonl` in the form of an image folder.

`load_dataset("imagefolder", …)` of the package `datasets` reads `metadata.jsonl`: a line for each
image, whose `file_name` is the image's path.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from annotate.exports.content import Content, File, encoded
from annotate.exports.formats.base import DataFiles, Format
from annotate.exports.images import IMAGES
from annotate.exports.json_text import dump
from annotate.exports.tables import CHUNK, Table, Type, lists

METADATA = "metadata.jsonl"
# Characters that JSON leaves as they are, but that some programs take for the end of a line.
LINE_ENDS = {character: f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}


def files(content: Content) -> Iterator[File]:
    yield File(METADATA, encoded(_lines(_images(content))))
    for table in content.tables[1:]:
        yield File(f"{table.name}.jsonl", encoded(_lines(table.dicts())))


def data_files(content: Content, has_images: bool) -> DataFiles:
    images = [METADATA, f"{IMAGES}/*"] if has_images else [METADATA]
    tables = content.tables[1:]
    return [("images", images), *((table.name, [f"{table.name}.jsonl"]) for table in tables)]


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    waiting = iter(rows)
    while chunk := list(islice(waiting, CHUNK)):
        text = "\n".join(map(dump, chunk)) + "\n"
        for character, escape in LINE_ENDS.items():
            text = text.replace(character, escape)
        yield text


def _images(content: Content) -> Iterator[dict[str, Any]]:
    """The images, each with the values of the listed columns of the other tables."""
    listed = {table.name: lists(table, "image_id") for table in content.tables if table.listed}
    texts = _text_columns(content.images)
    for row in content.images.dicts():
        # Readers infer the type of a column from its first rows, so unknown texts are empty.
        known = {name: row[name] or "" for name in texts}
        more = {name: found.get(row["image_id"], []) for name, found in listed.items()}
        yield row | known | more | {"file_name": f"{IMAGES}/{row['file_name']}"}


def _text_columns(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.type == Type.TEXT]


JSON_LINES = Format(
    name="jsonl",
    title="JSON lines",
    about="metadata.jsonl for the image folders of the package datasets, and JSON lines for each "
    "table",
    files=files,
    data_files=data_files,
)
