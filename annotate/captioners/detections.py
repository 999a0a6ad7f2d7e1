"""Read an object detector's boxes from a CSV file in the form of Open Images."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from annotate.captioners.constraints import Candidate
from annotate.reading.files import MalformedFile, Progress, no_progress, short
from annotate.reading.tables import CsvFile, open_csv

EDGE_COLUMNS = ("XMin", "XMax", "YMin", "YMax")
NUMBER_COLUMNS = (*EDGE_COLUMNS, "Confidence")
COLUMNS = ("ImageID", "LabelName", *NUMBER_COLUMNS)


def read_detections(
    path: Path, names: Mapping[str, str], progress: Progress = no_progress
) -> dict[str, list[Candidate]]:
    """The boxes of each image by the image's key; `names` are the known classes' names by label.

    Edges are fractions of the image, and Confidence is a number from 0 to 1. Other columns are
    ignored. Raises MalformedFile, which names the line.
    """
    found: dict[str, list[Candidate]] = defaultdict(list)
    with open_csv(path, progress) as table:
        header = table.header(COLUMNS)
        places = [header.index(column) for column in COLUMNS]
        for row in table.rows:
            if not row:
                continue
            if len(row) != len(header):
                raise table.wrong_length(row, len(header))
            image, label, *numbers = (row[place] for place in places)
            if label not in names:
                raise table.wrong(
                    f"class {short(label)} is not known; use the labels of the imported classes, "
                    "such as /m/0bt9lr"
                )
            found[image].append(Candidate(label, names[label], *_numbers(table, numbers)))
    if not found:
        raise MalformedFile(path, "the file has no detections")
    return found


def _numbers(table: CsvFile, texts: list[str]) -> list[float]:
    """The edges and the confidence, from 0 to 1."""
    values = [_number(table, *cell) for cell in zip(NUMBER_COLUMNS, texts, strict=True)]
    x_min, x_max, y_min, y_max, _confidence = values
    if x_min > x_max or y_min > y_max:
        raise table.wrong("XMin is greater than XMax, or YMin is greater than YMax")
    return values


def _number(table: CsvFile, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise table.wrong(f"{column} {short(text)} is not a number") from None
    if not 0 <= value <= 1:  # not for NaN either
        raise table.wrong(f"{column} {short(text)} is not between 0 and 1")
    return value
