"""What all lists share: filters from the page's address, columns to sort by, and CSV downloads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django import forms
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from shared.csv_text import csv_download
from shared.tables import Column, csv_table

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
    found = {one.sort or one.key: tuple(one.order.split()) for one in columns if one.order}
    return {default: found[default], **found}


def wants_csv(request: HttpRequest) -> bool:
    """Whether the address asks for the list as a file."""
    return request.GET.get("format") == CSV


def csv_file(name: str, columns: Sequence[Column], rows: Iterable[Any]) -> StreamingHttpResponse:
    """The list as a CSV file, which a spreadsheet can open without running formulas."""
    return csv_download(name, csv_table(columns, rows))
