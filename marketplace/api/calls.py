"""Calls of the API: the function that handles each, the objects that it names, and lists in pages.

Other requesters' objects do not exist for a call. Every page takes the same time, and inserted rows
do not shift pages.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.core import signing
from django.db.models import Model, QuerySet

from marketplace.api.errors import RequestError
from marketplace.errors import DoesNotExist, InvalidAssignmentState, UnknownWorker
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    Hit,
    HitType,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.services.qualification_types import no_such_type


@dataclass(frozen=True)
class Call:
    """A valid request: its requester, its parameters and its time."""

    requester: Requester
    params: dict[str, Any]
    at: datetime
    operation: str = ""


# None is an answer without members.
Handler = Callable[[Call], dict[str, Any] | None]
HANDLERS: dict[str, Handler] = {}


def operation(name: str) -> Callable[[Handler], Handler]:
    """Register the decorated function as the handler of the operation."""

    def register(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return register


Row = TypeVar("Row", bound=Model)


def find(rows: QuerySet[Row], public_id: str, name: str) -> Row:
    """The row with the public id; raises DoesNotExist, whose code begins with the name."""
    row = rows.filter(public_id=public_id).first()
    if row is None:
        raise DoesNotExist(f"{name} {public_id} does not exist.", code=f"{name}DoesNotExist")
    return row


def find_hit(call: Call) -> Hit:
    """The HIT that the call names, also a disposed one; raises DoesNotExist."""
    public_id = call.params["HITId"]
    mine = call.requester.hits.select_related("hit_type", "layout")
    hit = mine.filter(public_id=public_id).first()
    if hit is None:
        raise DoesNotExist(f"Hit {public_id} does not exist.", code="HITDoesNotExist")
    return hit


def find_hit_type(requester: Requester, public_id: str) -> HitType:
    """The HIT type; raises DoesNotExist."""
    return find(requester.hit_types.all(), public_id, "HITType")


def find_assignment(call: Call) -> Assignment:
    """The submitted assignment that the call names; raises DoesNotExist, InvalidAssignmentState."""
    public_id = call.params["AssignmentId"]
    mine = Assignment.objects.filter(hit__requester=call.requester, public_id=public_id)
    assignment = mine.select_related("hit__hit_type__notification_setting", "worker").first()
    ended = (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED)
    if assignment is None or assignment.status in ended:
        raise DoesNotExist(f"Assignment {public_id} does not exist.", code="AssignmentDoesNotExist")
    if assignment.status not in REVEALED:
        raise InvalidAssignmentState(
            "This operation can be called with a status of: Reviewable,Approved,Rejected"
        )
    assignment.hit.requester = call.requester
    return assignment


def find_worker(call: Call) -> Worker:
    """The worker whom the call names; raises UnknownWorker."""
    public_id = call.params["WorkerId"]
    worker = Worker.objects.filter(public_id=public_id).first()
    if worker is None:
        raise UnknownWorker(public_id)
    return worker


def find_qualification_type(call: Call) -> QualificationType:
    """The requester's own qualification type that the call names; raises DoesNotExist."""
    public_id = call.params["QualificationTypeId"]
    mine = call.requester.qualification_types
    qualification_type = mine.filter(public_id=public_id, is_deleted=False).first()
    if qualification_type is None:
        raise no_such_type(public_id)
    return qualification_type


_signer = signing.Signer(salt="marketplace.api.lookups")


def listed_by(at: datetime) -> dict[str, datetime]:
    """A filter that hides rows younger than MTURK_LISTING_LAG; empty without a lag."""
    lag = settings.MTURK_LISTING_LAG
    return {"created_at__lte": at - lag} if lag else {}


def listing(
    call: Call,
    rows: QuerySet[Row],
    *filters: object,
    name: str,
    shape: Callable[[Row], Any],
    newest_first: bool = False,
    first: Sequence[Row] = (),
) -> dict[str, Any]:
    """The response of a List operation: one page of rows, converted by `shape`, under `name`, and
    the token of the next page.

    A token of another operation, requester or values of `filters` raises RequestError. As clients
    expect, every page with rows has a token, and the empty page at the end has none. Rows in
    `first` come before all others; they are not in the database and have negative keys.
    """
    about = ":".join(map(str, (call.operation, call.requester.pk, *filters)))
    head = list(first)
    token = call.params.get("NextToken")
    if token is not None:
        last = _read(token, about)
        rows = rows.filter(pk__lt=last) if newest_first else rows.filter(pk__gt=last)
        head = [row for row in head if row.pk > last]
    size = call.params.get("MaxResults", settings.MTURK_DEFAULT_PAGE_SIZE)
    page = head[:size]
    page += rows.order_by("-pk" if newest_first else "pk")[: size - len(page)]
    answer: dict[str, Any] = {name: [shape(row) for row in page], "NumResults": len(page)}
    if page:
        answer["NextToken"] = _signer.sign_object([page[-1].pk, about])
    return answer


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
