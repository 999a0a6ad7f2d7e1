"""The docs name the marketplace's commands as they are; each conformance check has a test."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.written import check_arguments, commands

APPS = {"marketplace", "marketplace.panels"}


@pytest.mark.parametrize("words", [*commands(APPS)])
def test_a_command_takes_the_arguments_that_the_docs_give_it(words):
    check_arguments(words)


def test_the_docs_have_commands_of_the_marketplace():
    assert len([*commands(APPS)]) > 10


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

    tested = {
        number for text in docstrings for number in re.findall(r"^Conformance check (\d+)\.", text)
    }

    assert len(listed) == 49
    assert tested == listed
