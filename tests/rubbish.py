"""Wrong inputs for every page: rubbish in addresses, in filters, and in the fields of its forms."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode, urljoin
from zlib import crc32

from bs4 import BeautifulSoup, Tag
from django.db import connection

# What can reach a database, or break on the way to it.
STORABLE = [
    "a\0b",
    "\ud800",
    "-1",
    "9" * 30,
    "1e999",
    "NaN",
    "²",
    "0001-01-01T00:00",
    "9999-12-31T23:59:59.999999-23:59",
    "x" * 5_000,
]
# What is read or refused in the same way whatever the database, and what only PostgreSQL refuses.
FURTHER = [
    "",
    "\0",
    "😀 صورة",
    "0",
    "-Infinity",
    "١٢",
    "2026-13-99",
    "' OR 1=1 --",
    "%00%",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    '{"a": [1]}',
    "null",
    "line\r\nX-Injected: yes",
]
# CI runs the same tests on both databases, so on SQLite they need not try all of it again.
RUBBISH = STORABLE if connection.vendor == "sqlite" else [*STORABLE, *FURTHER]


def some_rubbish(name: str, share: int = 4) -> list[str]:
    """A quarter of the rubbish, or another share of it: pages and fields with other names get
    others."""
    return RUBBISH[crc32(name.encode()) % share :: share]


# The names of filters and pages, of any page.
FILTERS = (
    "page", "sort", "order", "after", "before", "status", "state", "act", "worker", "class",
    "name", "words", "image", "flag", "split", "since", "until", "judged", "actor", "reason",
    "pools", "procedure", "selection", "license", "format", "show", "seen", "next", "q", "track",
    "limit", "team", "kind", "to", "at", "language", "key", "number", "tab", "open", "campaign",
)  # fmt: skip


def query(value: str) -> str:
    """Every filter with this value."""
    text = quote(value, safe="", errors="surrogatepass")
    return "?" + "&".join(f"{name}={text}" for name in FILTERS)


FORM = "application/x-www-form-urlencoded"


def urlencoded(fields: Mapping[str, Any]) -> str:
    """The body of a post. A test client's own encoding refuses what is not valid text."""
    return urlencode(fields, doseq=True, errors="surrogatepass")


@dataclass
class PageForm:
    """A form as a browser finds it on a page: the address, the fields as they are, and those of
    them that are buttons."""

    address: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    buttons: dict[str, list[str]] = field(default_factory=dict)

    def with_rubbish(self) -> Iterator[dict[str, Any]]:
        """Posts with rubbish in one field each, in all of them, and with fields missing, unknown
        or given many times."""
        for name in self.fields:
            for value in some_rubbish(self.address + name, 10):
                yield {**self.fields, name: [value]}
            yield {other: given for other, given in self.fields.items() if other != name}
        yield {name: ["1", "2", "3"] * 100 for name in self.fields}
        for value in some_rubbish(self.address):
            yield {**dict.fromkeys(self.fields, [value]), "unknown\0field": [value]}
        yield {}


def forms_of(page: str, address: str) -> list[PageForm]:
    """The forms of a page that are posted, without the token that tests do not need."""
    forms = []
    for form in BeautifulSoup(page, "html.parser").select("form[method=post]"):
        made = PageForm(urljoin(address, str(form.get("action") or "")).partition("#")[0])
        for control in form.select("input[name], select[name], textarea[name], button[name]"):
            if control["name"] != "csrfmiddlewaretoken" and control.get("type") != "file":
                made.fields.setdefault(str(control["name"]), []).extend(_values(control))
            if control.name == "button":
                made.buttons[str(control["name"])] = made.fields[str(control["name"])]
        forms.append(made)
    return forms


def _values(element: Tag) -> list[str]:
    if element.name == "textarea":
        return [element.text]
    if element.name == "select":
        options = element.select("option[selected]") or element.select("option")[:1]
        return [str(option.get("value", "")) for option in options]
    if element.get("type") in {"checkbox", "radio"}:
        return [str(element.get("value", "on"))] if element.has_attr("checked") else []
    return [str(element.get("value", ""))]


def filled_in(form: PageForm, values: Mapping[str, str]) -> Iterator[dict[str, list[str]]]:
    """The form with these values in its fields, once for each of its buttons."""
    fields = {
        name: [values[name]] if name in values else given
        for name, given in form.fields.items()
        if name not in form.buttons
    }
    for name, texts in form.buttons.items():
        for text in texts:
            yield {**fields, name: [text]}
    if not form.buttons:
        yield fields
