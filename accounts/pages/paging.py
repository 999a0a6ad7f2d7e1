"""Split lists into pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest

PER_PAGE = 25
# A primary key has at most this many digits.
DIGITS = 18


def page_of(
    rows: QuerySet[Any] | Sequence[Any], request: HttpRequest, *, per_page: int = PER_PAGE
) -> Page[Any]:
    """The page number that the URL asks for, or the nearest existing one."""
    return Paginator(rows, per_page).get_page(request.GET.get("page"))


@dataclass(frozen=True)
class Stretch:
    """Some rows of a long list, and where the rows before and after them begin; empty at an end."""

    rows: list[Any]
    before: str = ""
    after: str = ""


def stretch_of(
    rows: QuerySet[Any], request: HttpRequest, *, by: Sequence[str], per_page: int = PER_PAGE
) -> Stretch:
    """The rows that the URL asks for with `after` or `before`, in the order of the columns `by`.

    The columns are whole numbers that are unique together; all are ascending, or all descending
    (`-pk`). The database finds a stretch by its index, wherever it is in the list, and never counts
    the list.
    """
    before, after = _place(request, "before", by), _place(request, "after", by)
    backwards = before is not None
    place = before if backwards else after
    descending = by[0].startswith("-")
    columns = [column.lstrip("-") for column in by]
    if place is not None:
        rows = rows.filter(_beyond(columns, place, "lt" if descending != backwards else "gt"))
    sign = "-" if descending != backwards else ""
    found = list(rows.order_by(*(f"{sign}{column}" for column in columns))[: per_page + 1])
    more, found = len(found) > per_page, found[:per_page]
    if backwards:
        found.reverse()
    if not found:
        return Stretch([])
    has_before = more if backwards else place is not None
    has_after = True if backwards else more
    return Stretch(
        found,
        _name(found[0], columns) if has_before else "",
        _name(found[-1], columns) if has_after else "",
    )


def _place(request: HttpRequest, name: str, by: Sequence[str]) -> list[int] | None:
    """The place in the URL; None if there is none, or if it is not one of this list."""
    words = request.GET.get(name, "").split("-")
    if len(words) != len(by) or not all(
        word.isascii() and word.isdigit() and len(word) <= DIGITS for word in words
    ):
        return None
    return [int(word) for word in words]


def _beyond(columns: Sequence[str], place: Sequence[int], side: str) -> Q:
    # The first condition repeats part of the others, so that the database can use an index.
    beyond = Q()
    for position, (column, value) in enumerate(zip(columns, place, strict=True)):
        equal = dict(zip(columns[:position], place[:position], strict=True))
        beyond |= Q(**equal, **{f"{column}__{side}": value})
    return Q(**{f"{columns[0]}__{side}e": place[0]}) & beyond


def _name(row: Any, columns: Sequence[str]) -> str:
    values = []
    for column in columns:
        value = row
        for name in column.split("__"):
            value = getattr(value, name)
        values.append(str(value))
    return "-".join(values)
