"""The blocks of code in the docs, as they are written there."""

import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
OUR_APPS = {"accounts", "annotate", "background", "qualcontrol", "hits", "leaderboard"}
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def lines():
    """The lines of all blocks of code, each with what continues it."""
    for path in PAGES:
        for block in CODE_BLOCK.findall(path.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                yield path.name, line.strip()


def commands(apps: Collection[str]) -> Iterator[object]:
    """The words of each command of these apps, without what the shell does with it."""
    known = get_commands()
    for name, line in lines():
        match = re.search(r"(?:^|\s)(?:\S*python )?manage\.py (.*)", line)
        # A Python text over several lines is not looked at.
        if match and not line.startswith("#") and line.count('"') % 2 == 0:
            words = shlex.split(match[1], comments=True)
            ends = [number for number, word in enumerate(words) if word in {"|", ">", "&", "&&"}]
            if words and known.get(words[0]) in apps:
                yield pytest.param(words[: ends[0] if ends else None], id=f"{name}: {line[:60]}")


def check_arguments(words):
    """Fail if the command does not take these arguments."""
    command = load_command_class(get_commands()[words[0]], words[0])
    try:
        command.create_parser("manage.py", words[0]).parse_args(words[1:])
    except (CommandError, SystemExit) as error:
        pytest.fail(f"{words}: {error}")


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")
