"""What conftest.py sets: the examples of property tests, and what `make test` leaves out."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import HERE, pytest_ignore_collect


def examples() -> list[Any]:
    """The examples that a property test gets."""
    shown = []

    @given(st.lists(st.integers() | st.text()))
    def look(values: list[Any]) -> None:
        shown.append(values)

    look()
    return shown


def test_examples_are_the_same_whatever_modules_are_loaded(tmp_path, monkeypatch):
    before = examples()
    module = ModuleType("full_of_constants")
    module.__file__ = str(tmp_path / "full_of_constants.py")
    constants = [*range(1_000_000, 1_000_500), *(f"constant {n}" for n in range(500))]
    (tmp_path / "full_of_constants.py").write_text(f"CONSTANTS = {constants}")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    assert examples() == before


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
