"""Pagination of long lists."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

PER_PAGE = 50


def page_of(
    rows: QuerySet[Any] | Sequence[Any], request: HttpRequest, *, per_page: int = PER_PAGE
) -> Page[Any]:
    """The page number that the URL asks for, or the nearest existing one."""
    return Paginator(rows, per_page).get_page(request.GET.get("page"))
