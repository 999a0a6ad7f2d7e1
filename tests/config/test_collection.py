"""Which tests `make test` leaves out."""

from types import SimpleNamespace

import pytest

from tests.conftest import HERE, pytest_ignore_collect


@pytest.mark.parametrize(
    ("marks", "left_out"),
    [
        ("not slow and not browser and not services", ["browser", "services"]),
        ("services", []),
        ("browser", []),
    ],
)
def test_no_folder_is_left_out_for_its_name_alone(marks, left_out):
    config = SimpleNamespace(option=SimpleNamespace(markexpr=marks))
    folders = [path for path in HERE.rglob("*") if path.is_dir()]

    found = [path for path in folders if pytest_ignore_collect(path, config)]

    assert sorted(found) == [HERE / name for name in left_out]
