"""Requests for qualifications, which are granted at once, by a test, or by the requester."""

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
from marketplace.questions import answers
from marketplace.requirements import Action

from .qualifications import grant, held_by, unmet


def requestable_for(*, worker: Worker, hit_type: HitType) -> list[QualificationType]:
    """The qualifications that the worker can request to meet the HIT type's requirements."""
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
    """Request a qualification: it is granted, its test begins, or the requester has to decide.

    Raises NotQualified if the worker cannot request it, or not yet.
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
    """Whether workers who have it may take its test again for another score."""
    return bool(qualification_type.test) and qualification_type.retry_delay is not None


def is_test_over(request: QualificationRequest, at: datetime) -> bool:
    """Whether the time ran out before the test was submitted."""
    return request.status == QualificationRequestStatus.STARTED and not time_left(request, at)


def time_left(request: QualificationRequest, at: datetime) -> timedelta:
    """The time that the worker has left for the test, at least zero."""
    duration = request.qualification_type.test_duration or timedelta()
    return max(request.started_at + duration - at, timedelta())


@transaction.atomic
def submit_test(*, request: QualificationRequest, answer: str, at: datetime) -> None:
    """Submit a test: its answer key scores and grants it, or the requester has to decide.

    Raises NotQualified if it was submitted before or its time has run out.
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
        score = answers.score_by_key(key, answer)
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
