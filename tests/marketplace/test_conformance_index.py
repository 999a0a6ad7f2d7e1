"""Every check in the conformance list has a test whose docstring names it."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKS = HERE / "conformance" / "README.md"


def functions_in(folder: Path) -> list[ast.FunctionDef]:
    return [
        node
        for path in folder.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_every_check_has_a_test_and_every_number_is_a_check():
    listed = set(re.findall(r"^(\d+)\. ", CHECKS.read_text(encoding="utf-8"), flags=re.MULTILINE))
    docstrings = [ast.get_docstring(test) or "" for test in functions_in(HERE)]

    tested = {number for text in docstrings for number in re.findall(r"^Check (\d+)\.", text)}

    assert len(listed) == 49
    assert tested == listed
