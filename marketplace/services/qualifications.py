"""Who holds what, who may do what, and how qualifications are given and taken."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace import requirements
from marketplace.errors import DoesNotExist, DomainError, NotQualified
from marketplace.models import (
    HitType,
    Message,
    Qualification,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.questions import answer_keys, check_test
from marketplace.requirements import Action, Locale, Value

# Below so many reviewed assignments, an approval rate says little and counts as perfect.
RATE_COUNTS_FROM = 100


def system_type_ids() -> set[str]:
    """The qualification types that the marketplace computes itself."""
    return {
        requirements.NUMBER_APPROVED,
        requirements.PERCENT_APPROVED,
        requirements.LOCALE,
        requirements.ADULT,
        *settings.MTURK_MASTERS_IDS,
    }


def system_values(worker: Worker) -> dict[str, Value]:
    """What the marketplace itself knows of the worker, by qualification type."""
    reviewed = worker.approved_count + worker.rejected_count
    percent = 100
    if reviewed >= RATE_COUNTS_FROM:
        percent = worker.approved_count * 100 // reviewed
    values: dict[str, Value] = {
        requirements.NUMBER_APPROVED: worker.approved_count,
        requirements.PERCENT_APPROVED: percent,
        requirements.ADULT: int(worker.is_adult),
    }
    if worker.country:
        values[requirements.LOCALE] = Locale(worker.country, worker.subdivision)
    if worker.is_master:
        values |= dict.fromkeys(settings.MTURK_MASTERS_IDS)
    return values


def held_by(worker: Worker) -> dict[str, Value]:
    """Everything the worker holds, computed and granted, by the public id of its type."""
    granted = worker.qualifications.filter(
        status=QualificationStatus.GRANTED, qualification_type__is_deleted=False
    )
    return system_values(worker) | dict(
        granted.values_list("qualification_type__public_id", "value")
    )


def allowed(*, worker: Worker, hit_types: Iterable[HitType], action: Action) -> list[HitType]:
    """Those HIT types, in their order, with which the worker may do the action."""
    held = held_by(worker)
    blocked_by = set(worker.blocks.values_list("requester_id", flat=True))
    return [
        hit_type
        for hit_type in hit_types
        if hit_type.requester_id not in blocked_by
        and not requirements.unmet(hit_type.qualification_requirements, held, action)
    ]


def requestable_for(*, worker: Worker, hit_type: HitType) -> list[QualificationType]:
    """The qualifications that the worker lacks for the HITs and may ask for."""
    missing = requirements.unmet(
        hit_type.qualification_requirements, held_by(worker), Action.ACCEPT
    )
    wanted = {each["QualificationTypeId"] for each in missing}
    held = worker.qualifications.values_list("qualification_type_id", flat=True)
    return list(
        QualificationType.objects.filter(public_id__in=wanted, is_active=True, is_deleted=False)
        .exclude(pk__in=held)
        .order_by("name")
    )


def refuse_unqualified(*, worker: Worker, hit_type: HitType, action: Action) -> None:
    """Raise NotQualified, with what is missing, unless the worker may do the action."""
    if worker.blocks.filter(requester_id=hit_type.requester_id).exists():
        raise NotQualified("This requester does not take work from you.")
    missing = requirements.unmet(hit_type.qualification_requirements, held_by(worker), action)
    if missing:
        raise NotQualified(
            f"You do not meet {len(missing)} of the qualification requirements of these HITs."
        )


def check_types_exist(public_ids: list[str]) -> None:
    """Raise DoesNotExist for a qualification type that is neither the system's nor anyone's."""
    custom = set(public_ids) - system_type_ids()
    known = QualificationType.objects.filter(public_id__in=custom, is_deleted=False)
    for unknown in sorted(custom - set(known.values_list("public_id", flat=True))):
        raise no_such_type(unknown)


def no_such_type(public_id: str) -> DoesNotExist:
    """The error for a qualification type that is not there, or not the requester's."""
    return DoesNotExist(
        f"QualificationType [{public_id}] does not exist.", code="QualificationTypeDoesNotExist"
    )


def no_such_qualification() -> DoesNotExist:
    """The error for a qualification that the worker does not hold; programs know it by its text."""
    return DoesNotExist(
        "You requested a Qualification that does not exist.", code="QualificationDoesNotExist"
    )


@transaction.atomic
def create_qualification_type(
    *, requester: Requester, name: str, description: str, at: datetime, **properties: Any
) -> QualificationType:
    """Make a type; raises DomainError for a name in use or impossible properties."""
    qualification_type = QualificationType(
        requester=requester, name=name, description=description, created_at=at, **properties
    )
    _check_type(qualification_type)
    try:
        with transaction.atomic():
            qualification_type.save(force_insert=True)
    except IntegrityError as error:
        raise DomainError(
            "You have already created a QualificationType with this name. A QualificationType's "
            f"name must be unique among all of the QualificationTypes created by the same user. "
            f"Name: {name}",
            code="QualificationTypeAlreadyExists",
        ) from error
    return qualification_type


@transaction.atomic
def update_qualification_type(
    *, qualification_type: QualificationType, changes: dict[str, Any]
) -> QualificationType:
    """Change a type's properties; raises DomainError for impossible ones."""
    locked = QualificationType.objects.select_for_update().get(pk=qualification_type.pk)
    for name, value in changes.items():
        setattr(locked, name, value)
    _check_type(locked)
    locked.save(update_fields=list(changes) or None)
    return locked


def _check_type(qualification_type: QualificationType) -> None:
    for name, text, longest in (
        ("Name", qualification_type.name, 200),
        ("Description", qualification_type.description, 2000),
        ("Keywords", qualification_type.keywords, 1000),
    ):
        if len(text) > longest:
            raise DomainError(f"{name} has {len(text)} characters; at most {longest} are allowed.")
    if not qualification_type.name.strip():
        raise DomainError("Name must not be empty.")
    if qualification_type.is_auto_granted and qualification_type.test:
        raise DomainError("A QualificationType with a test cannot be granted automatically.")
    if qualification_type.test and not qualification_type.test_duration:
        raise DomainError("A test needs TestDurationInSeconds.")
    if qualification_type.answer_key and not qualification_type.test:
        raise DomainError("An answer key needs a test.")
    if qualification_type.test:
        check_test(qualification_type.test)
    if qualification_type.answer_key:
        answer_keys.parse(qualification_type.answer_key)


@transaction.atomic
def delete_qualification_type(*, qualification_type: QualificationType, at: datetime) -> None:
    """Take the type out of use: nobody holds it any more, and its name is free."""
    if not QualificationType.objects.filter(pk=qualification_type.pk, is_deleted=False).update(
        is_deleted=True, is_active=False
    ):
        raise no_such_type(qualification_type.public_id)
    qualification_type.requests.filter(
        status__in=[QualificationRequestStatus.STARTED, QualificationRequestStatus.PENDING]
    ).update(status=QualificationRequestStatus.REJECTED, decided_at=at)


@transaction.atomic
def grant(
    *,
    qualification_type: QualificationType,
    worker: Worker,
    value: int | None,
    at: datetime,
    notify: bool = False,
) -> Qualification:
    """Give the worker the qualification, or its new value."""
    qualification, _created = Qualification.objects.update_or_create(
        qualification_type=qualification_type,
        worker=worker,
        defaults={"value": value, "status": QualificationStatus.GRANTED, "granted_at": at},
    )
    if notify:
        Message.objects.create(
            requester=qualification_type.requester,
            worker=worker,
            subject=f"You were granted a qualification: {qualification_type.name}"[:200],
            text=qualification_type.description,
            sent_at=at,
        )
    return qualification


@transaction.atomic
def revoke(
    *, qualification_type: QualificationType, worker: Worker, at: datetime, reason: str = ""
) -> None:
    """Take the qualification from the worker, who reads the reason; raises DoesNotExist."""
    held = worker.qualifications.filter(
        qualification_type=qualification_type, status=QualificationStatus.GRANTED
    )
    if not held.update(status=QualificationStatus.REVOKED):
        raise no_such_qualification()
    if reason:
        Message.objects.create(
            requester=qualification_type.requester,
            worker=worker,
            subject=f"A qualification was taken back: {qualification_type.name}"[:200],
            text=reason,
            sent_at=at,
        )


@transaction.atomic
def request_qualification(
    *, qualification_type: QualificationType, worker: Worker, at: datetime
) -> QualificationRequest:
    """Ask for a qualification: granted at once, a test begins, or it waits for the requester.

    Raises NotQualified where the worker cannot ask (again, or yet).
    """
    worker = Worker.objects.select_for_update().get(pk=worker.pk)
    _refuse_request(qualification_type, worker, at)
    if qualification_type.test:
        return _open_request(qualification_type, worker, QualificationRequestStatus.STARTED, at)
    if qualification_type.is_auto_granted:
        grant(
            qualification_type=qualification_type,
            worker=worker,
            value=qualification_type.auto_granted_value,
            at=at,
        )
        return _open_request(
            qualification_type, worker, QualificationRequestStatus.GRANTED, at, submitted_at=at,
            decided_at=at,
        )  # fmt: skip
    return _open_request(
        qualification_type, worker, QualificationRequestStatus.PENDING, at, submitted_at=at
    )


def _open_request(
    qualification_type: QualificationType, worker: Worker, status: str, at: datetime, **times
) -> QualificationRequest:
    return QualificationRequest.objects.create(
        qualification_type=qualification_type,
        worker=worker,
        status=status,
        started_at=at,
        **times,
    )


def _refuse_request(qualification_type: QualificationType, worker: Worker, at: datetime) -> None:
    if not qualification_type.is_active:
        raise NotQualified("This qualification cannot be requested at the moment.")
    if worker.qualifications.filter(
        qualification_type=qualification_type, status=QualificationStatus.GRANTED
    ).exists():
        raise NotQualified("You have this qualification already.")
    last = (
        QualificationRequest.objects.filter(qualification_type=qualification_type, worker=worker)
        .order_by("-pk")
        .first()
    )
    if last is None:
        return
    if last.decided_at is None:
        if not is_test_over(last, at):
            raise NotQualified("You have asked for this qualification; the answer is still due.")
        QualificationRequest.objects.filter(pk=last.pk).update(
            status=QualificationRequestStatus.REJECTED, decided_at=at
        )
    delay = qualification_type.retry_delay
    if delay is None:
        raise NotQualified("This qualification can be asked for once only.")
    if at < last.started_at + delay:
        raise NotQualified(
            f"You can ask for this qualification again after {last.started_at + delay:%d %B %Y}."
        )


def is_test_over(request: QualificationRequest, at: datetime) -> bool:
    """Whether the time for the test ran out before it was handed in."""
    if request.status != QualificationRequestStatus.STARTED:
        return False
    duration = request.qualification_type.test_duration or timedelta()
    return at >= request.started_at + duration


@transaction.atomic
def submit_test(*, request: QualificationRequest, answer: str, at: datetime) -> None:
    """Hand in a test: scored by its key and granted, or left to the requester.

    Raises NotQualified when it was handed in before or its time is over.
    """
    if is_test_over(request, at):
        raise NotQualified("The time for this test is over.")
    started = QualificationRequest.objects.filter(
        pk=request.pk, status=QualificationRequestStatus.STARTED
    )
    if not started.update(
        status=QualificationRequestStatus.PENDING, answer=answer, submitted_at=at
    ):
        raise NotQualified("This test was handed in before.")
    key = request.qualification_type.answer_key
    if key:
        score = answer_keys.score(key, answer)
        accept_request(request=request, value=score, at=at)


def accept_request(*, request: QualificationRequest, value: int | None, at: datetime) -> None:
    """Grant what was asked for; raises DomainError if the request is not pending."""
    _decide(request, QualificationRequestStatus.GRANTED, at, value=value)


def reject_request(*, request: QualificationRequest, reason: str, at: datetime) -> None:
    """Refuse what was asked for, with a reason; raises DomainError if it is not pending."""
    _decide(request, QualificationRequestStatus.REJECTED, at, reason=reason)


@transaction.atomic
def _decide(
    request: QualificationRequest,
    status: QualificationRequestStatus,
    at: datetime,
    *,
    value: int | None = None,
    reason: str = "",
) -> None:
    pending = QualificationRequest.objects.filter(
        pk=request.pk, status=QualificationRequestStatus.PENDING
    )
    if not pending.update(status=status, decided_at=at):
        raise DomainError(
            f"QualificationRequest {request.public_id} is not pending.",
            code="InvalidQualificationState",
        )
    qualification_type = request.qualification_type
    if status == QualificationRequestStatus.GRANTED:
        grant(qualification_type=qualification_type, worker=request.worker, value=value, at=at)
    elif reason:
        Message.objects.create(
            requester=qualification_type.requester,
            worker=request.worker,
            subject=f"Your request was declined: {qualification_type.name}"[:200],
            text=reason,
            sent_at=at,
        )
