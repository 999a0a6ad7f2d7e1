"""The paths of image files in an export."""

from pathlib import PurePosixPath

import pytest

from annotate.exports.images import image_paths
from annotate.exports.tables import Column, Table, Type


@pytest.mark.parametrize(
    "names",
    [
        ("2/IMG.jpg", "IMG.jpg", "img.jpg"),
        ("IMG.jpg", "img.jpg", "1"),
        ("3/a.jpg", "3/A.jpg", "1/3/a.jpg"),
        ("trip", "trip/1.jpg", "other.jpg"),
        ("Trip", "trip/day/1.jpg", "other.jpg"),
        ("..", "/", "other.jpg"),
    ],
)
def test_no_image_takes_the_place_of_another(names):
    columns = [Column("image_id", Type.INTEGER, ""), Column("file_name", Type.TEXT, "")]
    images = Table("images", "", columns, lambda: enumerate(names, start=1))

    paths = [PurePosixPath(path.casefold()) for path in image_paths(images).values()]

    assert len(set(paths)) == len(names)
    assert not {folder for path in paths for folder in path.parents}.intersection(paths)


def test_images_whose_ids_differ_only_in_case_are_in_different_folders():
    columns = [Column("image_id", Type.TEXT, ""), Column("file_name", Type.TEXT, "")]
    images = Table("images", "", columns, lambda: iter([("0A", "0A.jpg"), ("0a", "0a.jpg")]))

    assert [*image_paths(images).values()] == ["images/1/0A.jpg", "images/2/0a.jpg"]
