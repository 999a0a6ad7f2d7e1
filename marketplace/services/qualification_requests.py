"""Workers ask for qualifications: granted at once, by a test, or by the requester."""

from datetime import datetime, timedelta

from django.db import transaction

from marketplace.errors import DomainError, NotQualified
from marketplace.models import (
    HitType,
    Message,
    QualificationRequest,
    QualificationRequestStatus,
    QualificationStatus,
    QualificationType,
    Worker,
)
from marketplace.questions import answer_keys
from marketplace.requirements import Action

from .qualifications import grant, held_by, unmet


def requestable_for(*, worker: Worker, hit_type: HitType) -> list[QualificationType]:
    """The qualifications that the worker may ask for to meet what the HITs demand."""
    missing = unmet(hit_type, held_by(worker), Action.ACCEPT)
    wanted = {each["QualificationTypeId"] for each in missing}
    held = set(
        worker.qualifications.filter(status=QualificationStatus.GRANTED).values_list(
            "qualification_type_id", flat=True
        )
    )
    found = QualificationType.objects.filter(
        public_id__in=wanted, is_active=True, is_deleted=False
    ).order_by("name")
    return [each for each in found if each.pk not in held or can_be_improved(each)]


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
    qualification_type: QualificationType,
    worker: Worker,
    status: str,
    at: datetime,
    **times: datetime,
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
    """Whether those who hold it may take its test again, for another score."""
    return bool(qualification_type.test) and qualification_type.retry_delay is not None


def is_test_over(request: QualificationRequest, at: datetime) -> bool:
    """Whether the time for the test ran out before it was handed in."""
    return request.status == QualificationRequestStatus.STARTED and not time_left(request, at)


def time_left(request: QualificationRequest, at: datetime) -> timedelta:
    """How long the worker still has for the test; nothing once its time is over."""
    duration = request.qualification_type.test_duration or timedelta()
    return max(request.started_at + duration - at, timedelta())


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
        raise NotQualified("You have already submitted this test.")
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
