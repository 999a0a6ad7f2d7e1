"""Small dataset files, valid ones and ones with a single fault."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from simulation.scenes.dataset import BOX_HEADER, IMAGE_HEADER

CsvWriter = Callable[..., Path]


@pytest.fixture
def write_csv(tmp_path: Path) -> CsvWriter:
    """Write rows under a header to a file and return its path."""

    def write(name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([header, *rows] if header else rows)
        return path

    return write


@pytest.fixture
def image_row() -> Callable[..., list[object]]:
    """A line of image metadata; keyword arguments are columns."""

    def row(key: str = "0001", **columns: object) -> list[object]:
        values = {
            "ImageID": key,
            "Subset": "validation",
            "OriginalURL": f"https://photos.example/{key}.jpg",
            "OriginalLandingURL": f"https://photos.example/{key}",
            "License": "https://creativecommons.org/licenses/by/2.0/",
            "AuthorProfileURL": "https://photos.example/people/1",
            "Author": "A. Photographer",
            "Title": "Dogs, two of them",
            "Rotation": "0.0",
        }
        return [{**values, **columns}.get(name, "") for name in IMAGE_HEADER]

    return row


@pytest.fixture
def box_row() -> Callable[..., list[object]]:
    """A line of a box file; keyword arguments are columns."""

    def row(key: str = "0001", label: str = "/m/0bt9lr", **columns: object) -> list[object]:
        values = dict.fromkeys(BOX_HEADER, "0") | {
            "ImageID": key,
            "Source": "xclick",
            "LabelName": label,
            "Confidence": "1",
            "XMin": "0.1",
            "XMax": "0.4",
            "YMin": "0.2",
            "YMax": "0.8",
        }
        return [{**values, **columns}[name] for name in BOX_HEADER]

    return row
