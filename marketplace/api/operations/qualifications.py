"""Operations for qualification types, qualifications and requests for them."""

import hashlib
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Q

from marketplace import requirements
from marketplace.api.calls import (
    Call,
    find,
    find_qualification_type,
    find_worker,
    listed_by,
    listing,
    operation,
)
from marketplace.api.shapes import hit_shape, qualification_shape, qualification_type_shape
from marketplace.errors import DomainError
from marketplace.models import (
    Qualification,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
)
from marketplace.services import qualification_types, qualifications

# As of keywords. Databases refuse much longer conditions.
LONGEST_QUERY = 1000
# The date on which Mechanical Turk opened.
_SINCE = datetime(2005, 11, 2, tzinfo=UTC)


# Their names and descriptions by their ids.
SYSTEM_TYPES = {
    requirements.NUMBER_APPROVED: (
        "Worker_NumberHITsApproved",
        "Number of the worker's HITs that have been approved.",
    ),
    requirements.LOCALE: ("Worker_Locale", "The location that the worker has in their profile."),
    requirements.ADULT: (
        "Worker_Adult",
        "Whether the worker agreed to work that may be unsuitable for minors.",
    ),
    requirements.PERCENT_APPROVED: (
        "Worker_PercentAssignmentsApproved",
        "The share of the worker's reviewed assignments that were approved, in per cent.",
    ),
}


def _system_types() -> list[QualificationType]:
    if not settings.MTURK_SYSTEM_TYPES_READABLE:
        return []
    masters = ("Masters", "Workers who have shown excellence across a wide range of HITs.")
    described = SYSTEM_TYPES | dict.fromkeys(settings.MTURK_MASTERS_IDS, masters)
    return [
        # Negative keys put them before all rows in a list.
        QualificationType(
            pk=place - len(described),
            public_id=public_id,
            name=name,
            description=description,
            created_at=_SINCE,
        )
        for place, (public_id, (name, description)) in enumerate(described.items())
    ]


def _found_system_types(query: str) -> list[QualificationType]:
    """The system types whose name or description contains every word of the query."""
    words = query.lower().split()
    return [
        qualification_type
        for qualification_type in _system_types()
        if all(
            word in f"{qualification_type.name} {qualification_type.description}".lower()
            for word in words
        )
    ]


@operation("CreateQualificationType")
def create_qualification_type(call: Call) -> dict[str, Any]:
    properties = _properties(call.params)
    created = qualification_types.create_qualification_type(
        requester=call.requester,
        name=call.params["Name"],
        keywords=call.params.get("Keywords", ""),
        at=call.at,
        **properties,
    )
    return {"QualificationType": qualification_type_shape(created)}


@operation("UpdateQualificationType")
def update_qualification_type(call: Call) -> dict[str, Any]:
    updated = qualification_types.update_qualification_type(
        qualification_type=find_qualification_type(call),
        changes=_properties(call.params),
    )
    return {"QualificationType": qualification_type_shape(updated)}


PROPERTIES = {
    "Description": "description",
    "Test": "test",
    "AnswerKey": "answer_key",
    "AutoGranted": "is_auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}
DURATIONS = {"RetryDelayInSeconds": "retry_delay", "TestDurationInSeconds": "test_duration"}


def _properties(params: dict[str, Any]) -> dict[str, Any]:
    """The given properties, by the names of the model's fields."""
    given = {name: params[member] for member, name in PROPERTIES.items() if member in params}
    if "QualificationTypeStatus" in params:
        given["is_active"] = params["QualificationTypeStatus"] == "Active"
    for member, name in DURATIONS.items():
        if member in params:
            given[name] = _seconds(member, params[member])
    return given


def _seconds(name: str, count: int) -> timedelta:
    if not 0 <= count <= 10**9:
        raise DomainError(f"{name} must be between 0 and {10**9}.")
    return timedelta(seconds=count)


@operation("GetQualificationType")
def get_qualification_type(call: Call) -> dict[str, Any]:
    # Types of other requesters can be read, because their HITs may require them.
    public_id = call.params["QualificationTypeId"]
    stored = QualificationType.objects.filter(public_id=public_id, is_deleted=False)
    system = (
        qualification_type
        for qualification_type in _system_types()
        if qualification_type.public_id == public_id
    )
    qualification_type = next(system, None) or stored.first()
    if qualification_type is None:
        raise qualification_types.no_such_type(public_id)
    return {"QualificationType": _shape_for(call, qualification_type)}


def _shape_for(call: Call, qualification_type: QualificationType) -> dict[str, Any]:
    """The type, without the test and its key if it is another requester's."""
    is_own = qualification_type.requester_id == call.requester.pk
    return qualification_type_shape(qualification_type) | (
        {} if is_own else {"Test": None, "AnswerKey": None}
    )


@operation("DeleteQualificationType")
def delete_qualification_type(call: Call) -> None:
    qualification_types.delete_qualification_type(
        qualification_type=find_qualification_type(call),
        at=call.at,
    )


@operation("ListQualificationTypes")
def list_qualification_types(call: Call) -> dict[str, Any]:
    rows = QualificationType.objects.filter(is_deleted=False, **listed_by(call.at))
    query = call.params.get("Query", "")
    own_only = call.params.get("MustBeOwnedByCaller", False)
    if own_only:
        rows = rows.filter(requester=call.requester)
    if call.params["MustBeRequestable"]:
        rows = rows.filter(is_active=True)
    if len(query) > LONGEST_QUERY:
        raise DomainError(f"Query must have at most {LONGEST_QUERY} characters.")
    for word in query.split():
        rows = rows.filter(
            Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word)
        )
    # "If false, all Qualification types, including those managed by the system, are considered."
    is_only_requesters = own_only or call.params["MustBeRequestable"]
    system = [] if is_only_requesters else _found_system_types(query)

    # In the token of the next page.
    query_hash = hashlib.sha256(query.encode()).hexdigest()[:16]
    filters = (own_only, call.params["MustBeRequestable"], query_hash)
    shape = partial(_shape_for, call)
    return listing(call, rows, *filters, name="QualificationTypes", shape=shape, first=system)


@operation("ListHITsForQualificationType")
def list_hits_for_qualification_type(call: Call) -> dict[str, Any]:
    public_id = call.params["QualificationTypeId"]
    hit_types = [
        hit_type.pk
        for hit_type in call.requester.hit_types.all()
        if any(
            requirement["QualificationTypeId"] == public_id
            for requirement in hit_type.qualification_requirements
        )
    ]
    rows = call.requester.hits.undisposed().filter(hit_type__in=hit_types)
    rows = rows.select_related("hit_type", "layout")
    return listing(call, rows, public_id, name="HITs", shape=hit_shape, newest_first=True)


@operation("AssociateQualificationWithWorker")
def associate_qualification(call: Call) -> None:
    qualifications.grant(
        qualification_type=find_qualification_type(call),
        worker=find_worker(call),
        value=call.params.get("IntegerValue", 1),
        notify=call.params.get("SendNotification", True),
        at=call.at,
    )


@operation("DisassociateQualificationFromWorker")
def disassociate_qualification(call: Call) -> None:
    qualifications.revoke(
        qualification_type=find_qualification_type(call),
        worker=find_worker(call),
        reason=call.params.get("Reason", ""),
        at=call.at,
    )


@operation("GetQualificationScore")
def get_qualification_score(call: Call) -> dict[str, Any]:
    qualification = (
        Qualification.objects.filter(
            qualification_type=find_qualification_type(call),
            worker=find_worker(call),
        )
        .select_related("qualification_type", "worker")
        .first()
    )
    if qualification is None:
        raise qualifications.no_such_qualification()
    if qualification.status != QualificationStatus.GRANTED:
        raise DomainError(
            f"This Qualification is currently in the state '{qualification.status}'. "
            "This operation can be called with a status of: Granted",
            code="InvalidQualificationState",
        )
    return {"Qualification": qualification_shape(qualification)}


@operation("ListWorkersWithQualificationType")
def list_workers_with_qualification_type(call: Call) -> dict[str, Any]:
    qualification_type = find_qualification_type(call)
    given = call.params.get("Status")
    statuses = [given] if given else settings.MTURK_HOLDERS_LISTED
    rows = qualification_type.qualifications.filter(status__in=statuses)
    rows = rows.select_related("qualification_type", "worker")
    filters = (qualification_type.pk, *statuses)
    return listing(call, rows, *filters, name="Qualifications", shape=qualification_shape)


@operation("ListQualificationRequests")
def list_qualification_requests(call: Call) -> dict[str, Any]:
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester, status=QualificationRequestStatus.PENDING
    ).select_related("qualification_type", "worker")
    public_id = call.params.get("QualificationTypeId")
    if public_id is not None:
        rows = rows.filter(qualification_type=find_qualification_type(call))
    return listing(call, rows, public_id, name="QualificationRequests", shape=_request_shape)


def _request_shape(request: QualificationRequest) -> dict[str, Any]:
    return {
        "QualificationRequestId": request.public_id,
        "QualificationTypeId": request.qualification_type.public_id,
        "WorkerId": request.worker.public_id,
        "Test": request.test or None,
        "Answer": request.answer or None,
        "SubmitTime": request.submitted_at,
    }


@operation("AcceptQualificationRequest")
def accept_qualification_request(call: Call) -> None:
    qualification_types.accept_request(
        request=_find_request(call), value=call.params.get("IntegerValue", 1), at=call.at
    )


@operation("RejectQualificationRequest")
def reject_qualification_request(call: Call) -> None:
    qualification_types.reject_request(
        request=_find_request(call), reason=call.params.get("Reason", ""), at=call.at
    )


def _find_request(call: Call) -> QualificationRequest:
    mine = QualificationRequest.objects.filter(qualification_type__requester=call.requester)
    return find(
        mine.select_related("qualification_type__requester", "worker"),
        call.params["QualificationRequestId"],
        "QualificationRequest",
    )
