"""Qualification types, and workers' requests for them: granted at once, by a test, or by the
requester."""

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.errors import DoesNotExist, DomainError, NotQualified
from marketplace.models import (
    HitType,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.questions import answers
from marketplace.questions.documents import check_test
from marketplace.requirements import Action
from marketplace.services.qualifications import grant, held_by, system_type_ids, tell, unmet


def check_types_usable(requirements: list[dict[str, Any]]) -> None:
    """Raise DomainError if a requirement refers to a type that is deleted or inactive."""
    custom = {
        requirement["QualificationTypeId"] for requirement in requirements
    } - system_type_ids()
    existing = QualificationType.objects.filter(public_id__in=custom, is_deleted=False)
    is_active = dict(existing.values_list("public_id", "is_active"))
    for public_id in sorted(custom):
        if public_id not in is_active:
            raise no_such_type(public_id)
        if not is_active[public_id]:
            raise DomainError(
                f"QualificationType [{public_id}] is not Active; no HITs can be created with it.",
                code="InvalidQualificationTypeState",
            )


def no_such_type(public_id: str) -> DoesNotExist:
    """The error for a qualification type that does not exist or belongs to another requester."""
    return DoesNotExist(
        f"QualificationType [{public_id}] does not exist.", code="QualificationTypeDoesNotExist"
    )


@transaction.atomic
def create_qualification_type(
    *, requester: Requester, name: str, description: str, at: datetime, **properties: Any
) -> QualificationType:
    """Create a type; raises DomainError for a name in use or invalid properties."""
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
    """Change a type's properties; raises DomainError for invalid ones, and DoesNotExist if the type
    was deleted meanwhile.

    A new test replaces duration and answer key too: without a key, the requester decides.
    """
    if "test" in changes:
        changes = {"answer_key": "", **changes}
        if not changes["test"]:
            raise DomainError("There is no way to remove a Test from a QualificationType.")
        if "test_duration" not in changes:
            raise DomainError("A new Test needs TestDurationInSeconds.")
    elif changes.keys() & {"answer_key", "test_duration"}:
        raise DomainError(
            "AnswerKey and TestDurationInSeconds can only be changed together with the Test."
        )
    kept = QualificationType.objects.filter(pk=qualification_type.pk, is_deleted=False)
    locked = kept.select_for_update().first()
    if locked is None:
        raise no_such_type(qualification_type.public_id)
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
    _check_test(qualification_type)


def _check_test(qualification_type: QualificationType) -> None:
    if qualification_type.is_auto_granted and qualification_type.test:
        raise DomainError("A QualificationType with a test cannot be granted automatically.")
    if qualification_type.test and not qualification_type.test_duration:
        raise DomainError("A test needs TestDurationInSeconds.")
    if qualification_type.answer_key and not qualification_type.test:
        raise DomainError("An answer key needs a test.")
    if qualification_type.test:
        check_test(qualification_type.test)
    if qualification_type.answer_key:
        answers.parse_key(qualification_type.answer_key)


@transaction.atomic
def delete_qualification_type(*, qualification_type: QualificationType, at: datetime) -> None:
    """Delete the type, whose name can then be used again.

    Workers keep the qualification, and existing HITs may still require it.
    """
    if not QualificationType.objects.filter(pk=qualification_type.pk, is_deleted=False).update(
        is_deleted=True, is_active=False
    ):
        raise no_such_type(qualification_type.public_id)
    qualification_type.requests.filter(
        status__in=[QualificationRequestStatus.STARTED, QualificationRequestStatus.PENDING]
    ).update(status=QualificationRequestStatus.REJECTED, decided_at=at)


# Workers' requests


def requestable_for(*, worker: Worker, hit_type: HitType) -> list[QualificationType]:
    """The qualifications that the worker can request to meet the HIT type's requirements."""
    missing = unmet(hit_type, held_by(worker), Action.ACCEPT)
    wanted = {requirement["QualificationTypeId"] for requirement in missing}
    held = set(
        worker.qualifications.filter(status=QualificationStatus.GRANTED).values_list(
            "qualification_type_id", flat=True
        )
    )
    requestable = QualificationType.objects.filter(
        public_id__in=wanted, is_active=True, is_deleted=False
    ).order_by("name")
    return [
        qualification_type
        for qualification_type in requestable
        if qualification_type.pk not in held or can_be_improved(qualification_type)
    ]


@transaction.atomic
def request_qualification(
    *, qualification_type: QualificationType, worker: Worker, at: datetime
) -> QualificationRequest:
    """Request a qualification: it is granted, its test begins, or the requester has to decide.

    Raises NotQualified if the worker cannot request it, or not yet.
    """
    worker = Worker.objects.select_for_update().get(pk=worker.pk)
    if worker.erased_at is not None:
        raise NotQualified("This account is closed.")
    # Locked, because a deletion of the type rejects its requests.
    types = QualificationType.objects.select_for_update(no_key=True)
    qualification_type = types.get(pk=qualification_type.pk)
    _refuse_request(qualification_type, worker, at)
    status, times = QualificationRequestStatus.PENDING, {"submitted_at": at}
    if qualification_type.test:
        status, times = QualificationRequestStatus.STARTED, {}
    elif qualification_type.is_auto_granted:
        value = qualification_type.auto_granted_value
        grant(qualification_type=qualification_type, worker=worker, value=value, at=at)
        status, times = QualificationRequestStatus.GRANTED, {"submitted_at": at, "decided_at": at}
    return QualificationRequest.objects.create(
        qualification_type=qualification_type,
        worker=worker,
        status=status,
        test=qualification_type.test,
        test_duration=qualification_type.test_duration,
        answer_key=qualification_type.answer_key,
        started_at=at,
        **times,
    )


def _refuse_request(qualification_type: QualificationType, worker: Worker, at: datetime) -> None:
    if not qualification_type.is_active:
        raise NotQualified("This qualification cannot be requested at the moment.")
    has_it = worker.qualifications.filter(
        qualification_type=qualification_type, status=QualificationStatus.GRANTED
    ).exists()
    if has_it and not can_be_improved(qualification_type):
        raise NotQualified("You already have this qualification.")
    last = (
        QualificationRequest.objects.filter(qualification_type=qualification_type, worker=worker)
        .order_by("-pk")
        .first()
    )
    if last is None:
        return
    if last.decided_at is None:
        if not is_test_over(last, at):
            raise NotQualified(
                "You have already requested this qualification. The requester has not decided yet."
            )
        QualificationRequest.objects.filter(pk=last.pk).update(
            status=QualificationRequestStatus.REJECTED, decided_at=at
        )
    delay = qualification_type.retry_delay
    if delay is None:
        raise NotQualified("You can request this qualification only once.")
    if at < last.started_at + delay:
        raise NotQualified(
            f"You can request this qualification again after {last.started_at + delay:%d %B %Y}."
        )


def can_be_improved(qualification_type: QualificationType) -> bool:
    """Whether workers who have it may take its test again for another score."""
    return bool(qualification_type.test) and qualification_type.retry_delay is not None


def is_test_over(request: QualificationRequest, at: datetime) -> bool:
    """Whether the time ran out before the test was submitted."""
    return request.status == QualificationRequestStatus.STARTED and not time_left(request, at)


def time_left(request: QualificationRequest, at: datetime) -> timedelta:
    """The time that the worker has left for the test, at least zero."""
    duration = request.test_duration or timedelta()
    return max(request.started_at + duration - at, timedelta())


@transaction.atomic
def submit_test(*, request: QualificationRequest, answer: str, at: datetime) -> None:
    """Submit a test: its answer key scores and grants it, or the requester has to decide.

    Raises NotQualified if it was submitted before or its time has run out.
    """
    if is_test_over(request, at):
        raise NotQualified("The time for this test is over.")
    # A new request locks the worker first, too, and ends a test that is over.
    Worker.objects.select_for_update(no_key=True).get(pk=request.worker_id)
    started = QualificationRequest.objects.filter(
        pk=request.pk, status=QualificationRequestStatus.STARTED
    )
    if not started.update(
        status=QualificationRequestStatus.PENDING, answer=answer, submitted_at=at
    ):
        raise NotQualified("You have already submitted this test.")
    if request.answer_key:
        score = answers.score_by_key(request.answer_key, answer)
        accept_request(request=request, value=score, at=at)


def accept_request(*, request: QualificationRequest, value: int | None, at: datetime) -> None:
    """Grant the request; raises DomainError if it is not pending."""
    _decide(request, QualificationRequestStatus.GRANTED, at, value=value)


def reject_request(*, request: QualificationRequest, reason: str, at: datetime) -> None:
    """Reject the request with a reason; raises DomainError if it is not pending."""
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
    # An erasure locks the worker first, too.
    Worker.objects.select_for_update(no_key=True).get(pk=request.worker_id)
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
        what = "Your request was declined"
        tell(request.worker, what, qualification_type, text=reason, at=at)
