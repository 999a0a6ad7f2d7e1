"""Find a requester's own objects by public id, and list them in pages by key.

Other requesters' objects do not exist for them. Every page takes the same time, and inserted rows
do not shift pages.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db.models import Model, QuerySet

from marketplace import queries
from marketplace.api.errors import RequestError
from marketplace.errors import DoesNotExist, InvalidAssignmentState, UnknownWorker
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    Hit,
    HitLayout,
    HitType,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.services.qualification_types import no_such_type


def find_hit(requester: Requester, public_id: str) -> Hit:
    """The HIT, including disposed ones; raises DoesNotExist."""
    hit = queries.hit_of_requester(requester, public_id)
    if hit is None:
        raise DoesNotExist(f"Hit {public_id} does not exist.", code="HITDoesNotExist")
    return hit


def find_hit_type(requester: Requester, public_id: str) -> HitType:
    """The HIT type; raises DoesNotExist."""
    hit_type = requester.hit_types.filter(public_id=public_id).first()
    if hit_type is None:
        raise DoesNotExist(f"HITType {public_id} does not exist.", code="HITTypeDoesNotExist")
    return hit_type


def find_layout(requester: Requester, public_id: str) -> HitLayout:
    """The HIT layout; raises DoesNotExist."""
    layout = requester.layouts.filter(public_id=public_id).first()
    if layout is None:
        raise DoesNotExist(f"HITLayout {public_id} does not exist.", code="HITLayoutDoesNotExist")
    return layout


def find_assignment(requester: Requester, public_id: str) -> Assignment:
    """A submitted assignment; raises DoesNotExist or InvalidAssignmentState."""
    assignment = queries.assignment_of_requester(requester, public_id)
    ended = (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED)
    if assignment is None or assignment.status in ended:
        raise DoesNotExist(f"Assignment {public_id} does not exist.", code="AssignmentDoesNotExist")
    if assignment.status not in REVEALED:
        raise InvalidAssignmentState(
            "This operation can be called with a status of: Reviewable,Approved,Rejected"
        )
    return assignment


def find_worker(public_id: str) -> Worker:
    """The worker; raises UnknownWorker."""
    worker = Worker.objects.filter(public_id=public_id).first()
    if worker is None:
        raise UnknownWorker(public_id)
    return worker


def find_qualification_type(requester: Requester, public_id: str) -> QualificationType:
    """The requester's own qualification type; raises DoesNotExist."""
    found = requester.qualification_types.filter(public_id=public_id, is_deleted=False).first()
    if found is None:
        raise no_such_type(public_id)
    return found


Row = TypeVar("Row", bound=Model)

_signer = signing.Signer(salt="marketplace.api.lookups")


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
