"""The search for changes of the code that no test notices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PATIENCE
from tools import mutants

ROOT = Path(__file__).resolve().parents[2]

MODULE = """
from functools import cache

def is_grown_up(age: int = 0) -> bool:
    return age >= 18

class Door:
    @cache
    def opens_for(self, age):
        return is_grown_up(age)
"""
TESTS = """
from door import Door

def test_the_door_opens_for_grown_ups():
    assert Door().opens_for(30)
    assert not Door().opens_for(17)
"""


def test_every_part_names_files_that_exist():
    named = {path for part in mutants.PARTS.values() for path in [*part.modules, *part.tests]}

    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("return a < b", ["return None", "a <= b"]),
        ("return not a and b", ["return None", "not a or b", "a"]),
        ("x = a + 1", ["a - 1", "2", "0"]),
        ("x = True", ["False"]),
        ("a.filter(b, c=d, e=f)", ["pass", "a.filter(b, e=f)", "a.filter(b, c=d)"]),
        ("if a: x = 0", ["if not a:", "1", "-1"]),
        ("a.select_for_update(no_key=True).get(b=c)", ["pass", "{}.get()"]),
        ("log.warning('%s', a)", []),
        ("x: Literal[1] = a", []),
    ],
)
def test_code_is_changed_in_small_ways(tmp_path, code, changes):
    module = tmp_path / "module.py"
    module.write_text(f"@decorated(once=True)\ndef do(a: int | None, b=1):\n    {code}\n")

    found = [str(mutant).split("  →  ")[1] for mutant in mutants.mutants_of(str(module))]

    assert found == [change.format("a.select_for_update(no_key=True)") for change in changes]


@pytest.mark.slow
def test_mutants_that_no_test_notices_are_printed(tmp_path):
    (tmp_path / "door.py").write_text(MODULE)
    (tmp_path / "test_door.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")

    result = subprocess.run(
        [sys.executable, "-m", "tools.mutants", "door.py", "--tests", "test_door.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
        timeout=PATIENCE,
    )

    survivors = [line for line in result.stdout.splitlines() if "survived" in line]
    assert survivors == [
        "survived: door.py:5  age >= 18  →  age > 18",
        "survived: door.py:5  18  →  19",
    ]
    assert "3 of 5 mutants killed" in result.stdout
    assert (tmp_path / "door.py").read_text() == MODULE
