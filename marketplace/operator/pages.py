"""Pagination by primary key. Every page takes the same time, and rows are not counted."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest

Row = TypeVar("Row", bound=Model)
SIZE = 25


@dataclass(frozen=True)
class KeyPage(Generic[Row]):
    rows: list[Row]
    # Primary key before which the next page begins; None on the last page.
    older: int | None
    is_first: bool


def newest_first(request: HttpRequest, rows: QuerySet[Row]) -> KeyPage[Row]:
    """The page before the key `before` in the URL, newest rows first."""
    before = request.GET.get("before", "")
    is_first = not (before.isascii() and before.isdigit() and len(before) < 19)
    if not is_first:
        rows = rows.filter(pk__lt=int(before))
    found = list(rows.order_by("-pk")[: SIZE + 1])
    page = found[:SIZE]
    return KeyPage(page, page[-1].pk if len(found) > SIZE else None, is_first)
