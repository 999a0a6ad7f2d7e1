"""Read the names of classes in another language."""

from collections.abc import Iterator
from typing import NamedTuple

from corpora.reading.files import short
from corpora.reading.tables import CsvFile

# First lines that name the columns: of Open Images, and of tables that people write.
HEADERS = [("labelname", "displayname"), ("label", "name"), ("class", "name")]
LONGEST = 100


class NamedClass(NamedTuple):
    """A row: the class by its label or its English name, and its name in the language."""

    label_or_name: str
    name: str


def read_class_names(file: CsvFile) -> Iterator[NamedClass]:
    """Yield the rows of a table with two columns, with or without a header line.

    Raises MalformedFile with the line if a row has another length, if a name is empty or too long,
    or if a class has two names.
    """
    before: dict[str, str] = {}
    for number, row in enumerate(file.rows):
        if len(row) != 2:
            raise file.wrong_length(row, 2)
        key, name = (cell.strip() for cell in row)
        if number == 0 and (key.lower(), name.lower()) in HEADERS:
            continue
        if not key:
            raise file.wrong("the class has no label")
        if not 0 < len(name) <= LONGEST:
            raise file.wrong(f"the name of {short(key)} must have 1 to {LONGEST} characters")
        if before.setdefault(key.casefold(), name) != name:
            raise file.wrong(
                f"{short(key)} was {before[key.casefold()]!r} before and is {name!r} here"
            )
        yield NamedClass(key, name)
