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
