"""The check that strings name no higher package."""

from pathlib import Path

import pytest

from tools import arrows

RULES = """
[[tool.importlinter.contracts]]
type = "forbidden"

[[tool.importlinter.contracts]]
layers = ["config", "hits", "qualcontrol | leaderboard", "annotate", "accounts | marketplace"]
"""


def report(root: Path, path: str, text: str) -> list[str]:
    """The check's findings in a project in which only this file may be at fault."""
    files = {
        "pyproject.toml": RULES,
        "hits/urls.py": 'app_name = "campaigns"\n',
        "hits/templatetags/money.py": "",
        "templates/base.html": "{% url 'campaigns:campaign' %}",
        path: text,
    }
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return list(arrows.Names(root).upward())


@pytest.mark.parametrize(
    "string",
    [
        '"hits.Assignment"',
        '"hits.services.payments.pay"',
        'f"campaigns:campaign {x}"',
        '"hits/task.html"',
        '"/static/hits/task.js"',
        '"SELECT id FROM hits_assignment"',
        "'''Called by `hits.services.payments`.'''",
        "1  # see hits.models",
    ],
)
def test_a_string_that_names_a_higher_package_is_reported(tmp_path, string):
    source = string if string.startswith("'''") else f"x = 1\nname = {string}"
    line = 1 if string.startswith("'''") else 2

    found = report(tmp_path, "annotate/models.py", source)

    assert found == [f"annotate/models.py:{line} names hits, which is not below annotate."]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("templates/annotate/page.html", "{% url 'campaigns:campaign' campaign.slug %}"),
        ("templates/kinds/task.html", '{% include "hits/task.html" %}'),
        ("templates/parts/pager.html", "{% load humanize money %}"),
        ("static/annotate/page.js", 'import { pause } from "../hits/live.js";'),
    ],
)
def test_so_are_those_of_templates_and_scripts(tmp_path, path, line):
    [found] = report(tmp_path, path, f"\n{line}")

    assert found.startswith(f"{path}:2 names hits")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "hits/models.py",
            'NAMES = ["annotate.Response", "hits.Assignment", "accounts/team.html"]',
        ),
        ("annotate/models.py", 'NAME = "The hits, or hits_created in a file hits.csv."'),
        ("annotate/models.py", '"""Shown by `templates/hits/task.html`."""'),
        ("annotate/migrations/0001_initial.py", 'NAME = "hits.assignment"'),
        ("templates/annotate/page.html", '{% include "base.html" %}{{ hits.number }}'),
    ],
)
def test_other_strings_are_not(tmp_path, path, text):
    assert report(tmp_path, path, text) == []


@pytest.mark.parametrize("other", ["leaderboard", "marketplace"])
def test_nor_may_a_package_name_one_beside_it_or_the_other_site(tmp_path, other):
    [found] = report(tmp_path, "qualcontrol/pages.py", f'PAGE = "{other}/board.html"')

    assert found == f"qualcontrol/pages.py:1 names {other}, which is not below qualcontrol."
