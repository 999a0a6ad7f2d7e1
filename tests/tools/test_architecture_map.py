"""The map of packages follows the code."""

import itertools

import pytest

from tools import architecture_map
from tools.architecture_map import BEGIN, END, MapError, imports_of, map_of, with_map

names = (f"mapped{number}" for number in itertools.count())


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that creates an app with these modules and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(**modules):
        name = next(names)
        monkeypatch.setattr(architecture_map, "APPS", [name])
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text('"""An app."""')
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(text.format(app=name))
        return name

    return write


def test_each_module_has_a_line_with_what_it_is_and_imports(package, tmp_path):
    app = package(
        models='"""Tables."""', services='"""Changes,\nby topic."""\nfrom {app} import models'
    )

    lines = map_of(imports_of([app]), tmp_path).splitlines()

    assert f"**`{app}`**: An app." in lines
    assert "| `models` | Tables. |  |" in lines
    assert "| `services` | Changes, by topic. | models |" in lines


def test_modules_that_import_each_other_are_refused(package):
    app = package(one="from {app} import two", two="def f():\n    import {app}.one")

    with pytest.raises(MapError, match=rf"{app}\.(one|two) -> {app}\.(one|two) -> "):
        imports_of([app])


def test_a_module_without_a_docstring_is_refused(package, tmp_path):
    app = package(models="")

    with pytest.raises(MapError, match="models.py has no docstring"):
        map_of(imports_of([app]), tmp_path)


def test_the_text_around_the_map_stays():
    assert with_map(f"a\n{BEGIN}\nold\n{END}\nb", "new") == f"a\n{BEGIN}\n\nnew\n{END}\nb"
    with pytest.raises(MapError, match="lacks the markers"):
        with_map("a page", "new")
