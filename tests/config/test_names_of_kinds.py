"""Nothing outside a task type's own folder names it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import annotate
from annotate.kinds import KINDS

ROOT = Path(annotate.__file__).parents[1]
APPS = (
    "accounts", "annotate", "background", "config", "hits", "leaderboard", "qualcontrol", "shared",
    "simulation",
)  # fmt: skip


def names_kind(text, kind):
    """Whether a text is a key, field, path or module of the kind, and no English sentence."""
    key = rf"{kind}(\.|__)[a-z_]+"
    path = rf"(\S*\b)?(kinds[/.]{kind}\b|{kind}/)\S*"
    return re.fullmatch(rf"({key}|{path})", text) is not None


def strings_about_kinds(tree):
    """Texts of a module, each with the lines where it is compared, or is the value of `kind`."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                values, is_kind = [left, *others], True
            case ast.MatchValue(value=value) | ast.keyword(arg="kind", value=value):
                values, is_kind = [value], True
            case ast.Dict(keys=keys, values=found):
                values = [
                    value
                    for key, value in zip(keys, found, strict=True)
                    if isinstance(key, ast.Constant) and key.value == "kind"
                ]
                is_kind = True
            case ast.Constant():
                values, is_kind = [node], False
            case _:
                continue
        for value in values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.lineno, value.value, is_kind


@cache
def strings_in(path):
    return list(strings_about_kinds(ast.parse(path.read_text(encoding="utf-8"))))


def found_in_module(path, kind):
    own = {f"annotate/kinds/{kind}", f"simulation/kinds/{kind}.py"}
    if any(str(path.relative_to(ROOT)).startswith(name) for name in own):
        return []
    return [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for line, text, is_kind in strings_in(path)
        if names_kind(text, kind) or (is_kind and text == kind)
    ]


@pytest.mark.parametrize("name", KINDS)
def test_no_module_outside_a_kinds_folder_names_it(name):
    modules = [
        path
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts
    ]

    assert len(modules) > 400
    assert [line for path in modules for line in found_in_module(path, name)] == []


@pytest.mark.parametrize("name", KINDS)
def test_no_template_or_script_outside_a_kinds_folder_names_it(name):
    own = re.compile(rf"kinds/{name}[./]")
    files = [
        path
        for folder in ("templates", "static")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".html", ".js", ".css", ".txt"} and not own.search(path.as_posix())
    ]
    wrong = re.compile(rf"kinds/{name}\b|\b{name}__|==\s*[\"']{name}[\"']")

    found = [path for path in files if wrong.search(path.read_text(encoding="utf-8"))]

    assert len(files) > 150
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'if campaign.kind == "rating": ...',
        'Campaign.objects.filter(kind="rating")',
        'file = {"kind": "rating"}',
        'value_at(file, "rating.images")',
        'form.fields["rating__sources"]',
        'render(request, "kinds/rating/task.html")',
        'static("kinds/rating.css")',
        'import_module("annotate.kinds.rating.answers")',
        'match kind:\n  case "rating": ...',
    ],
)
def test_each_way_to_name_a_kind_is_found(line, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(line)

    assert found_in_module(tmp_path / "module.py", "rating")
    assert not found_in_module(tmp_path / "module.py", "caption")
