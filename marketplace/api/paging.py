"""Pagination by key: every page takes the same time, and inserted rows do not shift pages."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db.models import Model, QuerySet

from .errors import RequestError

Row = TypeVar("Row", bound=Model)

_signer = signing.Signer(salt="marketplace.api.paging")


def listed_by(at: datetime) -> dict[str, datetime]:
    """A filter that hides rows younger than MTURK_LISTING_LAG; empty without a lag."""
    lag = settings.MTURK_LISTING_LAG
    return {"created_at__lte": at - lag} if lag else {}


def page_of(
    rows: QuerySet[Row],
    params: dict[str, Any],
    *,
    about: str,
    newest_first: bool = False,
    first: Sequence[Row] = (),
) -> tuple[list[Row], dict[str, Any]]:
    """One page of rows, and the response's members with the token of the next page.

    `about` identifies the list; a token of another list raises RequestError. As clients expect,
    every page with rows has a token, and the empty page at the end has none. Rows in `first` come
    before all others; they are not in the database and have negative keys.
    """
    head = list(first)
    token = params.get("NextToken")
    if token is not None:
        last = _read(token, about)
        rows = rows.filter(pk__lt=last) if newest_first else rows.filter(pk__gt=last)
        head = [row for row in head if row.pk > last]
    size = params.get("MaxResults", settings.MTURK_DEFAULT_PAGE_SIZE)
    page = head[:size]
    page += rows.order_by("-pk" if newest_first else "pk")[: size - len(page)]
    members: dict[str, Any] = {"NumResults": len(page)}
    if page:
        members["NextToken"] = _write(page[-1].pk, about)
    return page, members


def listing(
    rows: QuerySet[Row],
    params: dict[str, Any],
    *,
    name: str,
    about: str,
    shape: Callable[[Row], dict[str, Any]],
    newest_first: bool = False,
    first: Sequence[Row] = (),
) -> dict[str, Any]:
    """The response of a List operation: the rows of a page, converted by `shape`, under `name`."""
    page, members = page_of(rows, params, about=about, newest_first=newest_first, first=first)
    return {name: [shape(row) for row in page], **members}


def _write(pk: int, about: str) -> str:
    return _signer.sign_object([pk, about])


def _read(token: str, about: str) -> int:
    try:
        pk, token_about = _signer.unsign_object(token)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise RequestError("NextToken is not valid.", "InvalidParameterValue") from error
    if token_about != about:
        raise RequestError(
            "NextToken belongs to another list or other parameters.", "InvalidParameterValue"
        )
    return int(pk)
