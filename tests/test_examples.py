"""Property tests use the same examples in every run."""

import sys
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st


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
