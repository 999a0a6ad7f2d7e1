"""What all lists share: filters from the address, columns to sort by, pages, CSV downloads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from shared.tables import Column, csv_download, csv_table

CSV = "csv"
Row = TypeVar("Row", bound=Model)


class FilterForm(forms.Form):
    """The filters of a list. A value that is not valid filters nothing, and the form says why.

    A subclass may set `orders`: the columns to order by, under the name in the address. The first
    is the default. `lookups` has the lookup of each filter that is not a field of the rows.
    """

    orders: Mapping[str, tuple[str, ...]] = {}
    lookups: Mapping[str, str] = {}

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.GET, auto_id="filter-%s", label_suffix="")
        self.order = request.GET.get("sort", "")
        if self.order not in self.orders:
            self.order = next(iter(self.orders), "")

    @property
    def chosen(self) -> dict[str, Any]:
        """The filters in use with their values."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}

    def found_in(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """The rows for which all filters in use hold, in the order that the address asks for."""
        chosen = {self.lookups.get(name, name): value for name, value in self.chosen.items()}
        return rows.filter(**chosen).order_by(*self.orders[self.order])


def choice(label: str, choices: Iterable[tuple[str, str]], **attrs: Any) -> forms.ChoiceField:
    """A filter with a list of values; the empty one filters nothing."""
    return forms.ChoiceField(
        label=label, choices=[("", "any"), *choices], required=False, widget=forms.Select(attrs)
    )


def search(label: str, *, max_length: int = 200, **attrs: Any) -> forms.CharField:
    """A filter for a text that is typed."""
    widget = forms.TextInput({"type": "search", "autocomplete": "off", **attrs})
    return forms.CharField(label=label, max_length=max_length, required=False, widget=widget)


def day(label: str) -> forms.DateField:
    """A filter for a date."""
    return forms.DateField(label=label, required=False, widget=forms.DateInput({"type": "date"}))


def orders(columns: Iterable[Column], *, default: str) -> dict[str, tuple[str, ...]]:
    """What a list can be sorted by, for a FilterForm; the default is the first."""
    orders = {
        column.sort or column.key: tuple(column.order.split()) for column in columns if column.order
    }
    return {default: orders[default], **orders}


def wants_csv(request: HttpRequest) -> bool:
    """Whether the address asks for the list as a file."""
    return request.GET.get("format") == CSV


def csv_file(name: str, columns: Sequence[Column], rows: Iterable[Any]) -> StreamingHttpResponse:
    """The list as a CSV file, which a spreadsheet can open without running formulas."""
    return csv_download(name, csv_table(columns, rows))


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
    page = list(rows.order_by(*(f"{sign}{column}" for column in columns))[: per_page + 1])
    more, page = len(page) > per_page, page[:per_page]
    if backwards:
        page.reverse()
    if not page:
        return Stretch([])
    has_before = more if backwards else place is not None
    has_after = True if backwards else more
    return Stretch(
        page,
        _name(page[0], columns) if has_before else "",
        _name(page[-1], columns) if has_after else "",
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
