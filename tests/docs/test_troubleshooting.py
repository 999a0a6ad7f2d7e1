"""The messages in docs/troubleshooting.md exist in the code."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
APPS = (
    "accounts",
    "annotate",
    "background",
    "config",
    "corpora",
    "hits",
    "marketplace",
    "qualcontrol",
    "shared",
    "simulation",
)
PLACEHOLDER = re.compile(
    r"\b(?:NAME|FILE|DIR|URL|VALUE|ADDRESS|REASON|KEY|STATUS|[ABMN])\b|…|[{}$]|\d+"
)
FROM_LIBRARIES = (
    "Unable to locate credentials",
    "Could not connect to the endpoint URL",
    "SSL: CERTIFICATE_VERIFY_FAILED",
    ": Input should be",
)
LEAST_LENGTH = 12


def symptoms() -> list[str]:
    rows = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return [row for row in rows if row != "symptom"]


def fragments(quotes: list[str]) -> list[str]:
    parts = [part.strip() for quote in quotes for part in PLACEHOLDER.split(quote)]
    return [part for part in parts if len(part) >= LEAST_LENGTH]


@cache
def strings_of_the_code() -> str:
    paths = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
    return "\n".join(
        node.value
        for path in paths
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ).replace("`", "")


def test_each_quoted_message_is_in_the_code():
    quotes = [quote for row in symptoms() for quote in re.findall(r"`([^`]+)`", row)]
    code = strings_of_the_code() + "\n".join(FROM_LIBRARIES)

    parts = [part for part in fragments(quotes) if not part.startswith("make ")]

    assert len(parts) >= 30
    assert [part for part in parts if part not in code] == []


def test_each_sentence_that_a_page_shows_is_in_a_template_or_the_code():
    texts = [path.read_text("utf-8") for path in (ROOT / "templates").rglob("*.html")]
    marked = re.sub(r'{% translate "(.*?)" %}', r"\1", "\n".join(texts))
    shown = re.sub(r"{{.*?}}|{%.*?%}", "captions", marked) + strings_of_the_code()
    quotes = [quote for row in symptoms() for quote in re.findall(r"“([^”]+)”", row)]

    missing = [part for part in fragments(quotes) if part not in shown]

    assert [part for part in missing if not part.startswith("Bad Request")] == []
