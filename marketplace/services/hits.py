"""Create, extend, expire and dispose of HITs."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace import queries
from marketplace.errors import AlreadyDone, DomainError, InvalidHitState
from marketplace.models import (
    EventType,
    Hit,
    HitStatus,
    HitType,
    Membership,
    Participation,
    Requester,
    RequestToken,
)
from marketplace.policies import KNOWN_ANSWERS, PLURALITY, Policy
from marketplace.questions.documents import check_question
from marketplace.services import money
from marketplace.services.hit_types import check_range
from marketplace.services.notifications import record_event
from marketplace.services.qualification_types import check_types_usable

A_SECOND = timedelta(seconds=1)
# The same limit as for questions.
LARGEST_POLICY = 65_535


@transaction.atomic
def create_hit(
    *,
    hit_type: HitType,
    lifetime: timedelta,
    at: datetime,
    max_assignments: int = 1,
    token: str | None = None,
    **properties: Any,
) -> Hit:
    """Create a HIT with these properties and hold its cost; raises AlreadyDone, InsufficientFunds
    or DomainError."""
    lifetimes = settings.MTURK_LIFETIME_SECONDS
    check_range("LifetimeInSeconds", lifetime.total_seconds(), lifetimes)
    check_range("MaxAssignments", max_assignments, (1, settings.MTURK_MAX_ASSIGNMENTS))
    hit = Hit(
        hit_type=hit_type,
        requester=hit_type.requester,
        max_assignments=max_assignments,
        available=max_assignments,
        fee=money.assignment_fee(hit_type, max_assignments=max_assignments),
        expires_at=at + lifetime,
        created_at=at,
        **properties,
    )
    if len(hit.requester_annotation) > 255:
        raise DomainError("RequesterAnnotation must have at most 255 characters.")
    check_question(hit.question)  # raises QuestionRefused
    _check_policy(hit.assignment_review_policy, KNOWN_ANSWERS)
    _check_policy(hit.hit_review_policy, PLURALITY)
    made = hit.public_id
    claim_token(requester=hit.requester, operation="CreateHIT", token=token, at=at, made=made)
    # A qualification type may have been deleted since the HIT type was created. After the token: a
    # repeated call is told that its HIT exists, even if the type was deleted since.
    check_types_usable(hit_type.qualification_requirements)
    hit.save(force_insert=True)
    money.hold(hit=hit, slots=max_assignments, at=at)
    record_event(event_type=EventType.HIT_CREATED, hit=hit, at=at)
    return hit


def _check_policy(document: dict[str, Any] | None, expected: str) -> None:
    if document is None:
        return
    if len(json.dumps(document)) > LARGEST_POLICY:
        raise DomainError(f"A review policy has at most {LARGEST_POLICY} characters.")
    for problem in Policy(document).problems(expected):
        raise DomainError(problem)


@transaction.atomic
def add_assignments(*, hit: Hit, count: int, at: datetime, token: str | None = None) -> None:
    """Add assignments to the HIT; raises AlreadyDone, InsufficientFunds or DomainError."""
    if count < 1:
        raise DomainError("NumberOfAdditionalAssignments must be at least 1.")
    claim_token(requester=hit.requester, operation="CreateAdditionalAssignmentsForHIT",
                token=token, at=at)  # fmt: skip
    hit = lock(hit)
    _refuse_disposed(hit)
    _refuse_too_new(hit, at)
    large, most = settings.MTURK_LARGE_HIT_ASSIGNMENTS, settings.MTURK_MAX_ASSIGNMENTS
    total = hit.max_assignments + count
    if total > most:
        raise DomainError(
            f"A HIT can have at most {most} assignments; this one would have {total}."
        )
    if hit.max_assignments < large <= total:
        raise DomainError(
            f"A HIT that was created for fewer than {large} assignments cannot be extended to "
            f"{large} or more.",
            code="InvalidMaximumAssignmentsIncrease",
        )
    # A sweep may not have met the time yet.
    is_expired = hit.is_expired or hit.expires_at <= at
    if is_expired and settings.MTURK_SLOTS_REOPEN_EXPIRED:
        duration = hit.hit_type.assignment_duration
        Hit.objects.filter(pk=hit.pk).update(expires_at=at + duration, is_expired=False)
    queries.move(hit.pk, available=count, slots=count)
    money.hold(hit=hit, slots=count, at=at)
    record_event(event_type=EventType.HIT_EXTENDED, hit=hit, at=at)


@transaction.atomic
def update_expiration(*, hit: Hit, expires_at: datetime, at: datetime) -> None:
    """Postpone the HIT's expiration, or expire it now; raises DomainError."""
    hit = lock(hit)
    _refuse_disposed(hit)
    if timedelta() < hit.expires_at - expires_at < A_SECOND and expires_at > at:
        # Clients send whole seconds, so treat this as the expiration that they were given.
        expires_at = hit.expires_at
    _refuse_repeated(hit, expires_at, at)
    if expires_at <= at:
        expire(hit=hit, at=at)
        return
    _refuse_too_new(hit, at)
    if expires_at < hit.expires_at:
        raise DomainError(
            "The expiration of a HIT can be moved to a later time or to now, not to an earlier "
            "time in the future."
        )
    step = settings.MTURK_EXPIRATION_STEP
    if expires_at - hit.expires_at < step:
        raise DomainError(
            f"The expiration of a HIT must be moved by {step.total_seconds():.0f} seconds or more."
        )
    longest = timedelta(seconds=settings.MTURK_LIFETIME_SECONDS[1])
    if expires_at > at + longest:
        raise DomainError(f"A HIT can expire at most {longest.days} days from now.")
    Hit.objects.filter(pk=hit.pk).update(expires_at=expires_at, is_expired=False)
    queries.move(hit.pk)
    record_event(event_type=EventType.HIT_EXTENDED, hit=hit, at=at)


def _refuse_repeated(hit: Hit, expires_at: datetime, at: datetime) -> None:
    is_same = hit.is_expired if expires_at <= at else expires_at == hit.expires_at
    if is_same and settings.MTURK_REPEATED_EXPIRATION_REFUSED:
        raise AlreadyDone(
            f'The idempotency token "{hit.public_id}{expires_at:%Y%m%d%H%M%S}" has already been '
            "processed.",
            code=settings.MTURK_DUPLICATE_TOKEN_CODE,
        )


@transaction.atomic
def expire(*, hit: Hit, at: datetime) -> None:
    """Stop offering the HIT now; accepted assignments continue. Repeating it does no harm."""
    hit = lock(hit)
    if hit.status == HitStatus.DISPOSED or hit.is_expired:
        return
    Hit.objects.filter(pk=hit.pk).update(is_expired=True, expires_at=min(hit.expires_at, at))
    was_open = hit.status in (HitStatus.ASSIGNABLE, HitStatus.UNASSIGNABLE)
    status = queries.move(hit.pk)
    record_event(event_type=EventType.HIT_EXPIRED, hit=hit, at=at)
    if was_open:
        announce_if_reviewable(hit=hit, status=status, at=at)


def announce_if_reviewable(*, hit: Hit, status: str, at: datetime) -> None:
    """Schedule review policies, and record an event if the HIT's status is now reviewable."""
    if hit.hit_review_policy is not None or hit.assignment_review_policy is not None:
        Hit.objects.filter(pk=hit.pk).update(policy_due_at=at)
    if status == HitStatus.REVIEWABLE:
        record_event(event_type=EventType.HIT_REVIEWABLE, hit=hit, at=at)


def update_review_status(*, hit: Hit, revert: bool) -> None:
    """Move a HIT from Reviewable to Reviewing, or back; raises InvalidHitState."""
    source, target = HitStatus.REVIEWABLE, HitStatus.REVIEWING
    if revert:
        source, target = target, source
    if not Hit.objects.filter(pk=hit.pk, status=source).update(status=target):
        hit.refresh_from_db(fields=["status"])
        raise _wrong_state(hit, [source])


@transaction.atomic
def delete(*, hit: Hit, at: datetime) -> None:
    """Dispose of the HIT because its requester wants it; raises InvalidHitState."""
    hit = lock(hit)
    if hit.status not in settings.MTURK_DELETABLE_HIT_STATUSES:
        raise _wrong_state(hit, sorted(settings.MTURK_DELETABLE_HIT_STATUSES, reverse=True))
    if hit.unreviewed:
        raise InvalidHitState(
            f"This HIT has {hit.unreviewed} submitted assignments that were neither approved nor "
            "rejected. It cannot be deleted before they are reviewed."
        )
    if hit.pending:
        raise InvalidHitState("Workers are working on this HIT, so it cannot be deleted yet.")
    dispose(hit=hit, at=at)


def dispose(*, hit: Hit, at: datetime) -> None:
    """Dispose of the HIT, which is locked and has no open work, and release its hold."""
    # Set `is_expired`, so that the sweep does not expire it later.
    Hit.objects.filter(pk=hit.pk).update(status=HitStatus.DISPOSED, is_expired=True)
    money.release(hit=hit, slots=hit.available, at=at)
    record_event(event_type=EventType.HIT_DISPOSED, hit=hit, at=at)


@transaction.atomic
def change_type(*, hit: Hit, hit_type: HitType, at: datetime) -> None:
    """Give the HIT another type's properties; raises InsufficientFunds or InvalidHitState."""
    hit = lock(hit)
    _refuse_disposed(hit)
    _refuse_too_new(hit, at)
    if hit.hit_type_id != hit_type.pk:
        _refuse_counted_by_type(hit, hit_type)
    unpaid = hit.available + hit.pending + hit.unreviewed
    money.release(hit=hit, slots=unpaid, at=at)
    hit.hit_type = hit_type
    hit.fee = money.assignment_fee(hit_type, max_assignments=hit.max_assignments)
    Hit.objects.filter(pk=hit.pk).update(hit_type=hit_type, fee=hit.fee)
    money.hold(hit=hit, slots=unpaid, at=at)


def _refuse_counted_by_type(hit: Hit, hit_type: HitType) -> None:
    """Raise InvalidHitState if work on the HIT belongs, by its type or the new one, to a study,
    which a panel pays, or to a group of people, who may withdraw it."""
    types, by_work = [hit.hit_type_id, hit_type.pk], {"worker__assignments__hit": hit}
    in_study = Participation.objects.filter(study__hit_type__in=types, **by_work)
    in_group = Membership.objects.filter(group__offers__hit_type__in=types, **by_work)
    if in_study.exists() or in_group.exists():
        raise InvalidHitState(
            "People of a study or a group have worked on this HIT, so it keeps its HITType. Create "
            "another HIT."
        )


def lock(hit: Hit) -> Hit:
    """Lock the HIT until the caller's transaction ends; return it as it is now."""
    # No lock of its key: rows that refer to the HIT can be added by those who hold other locks. No
    # join with the type: if that has changed while this waited, PostgreSQL would find no row.
    rows = Hit.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("requester").get(pk=hit.pk)


def _refuse_disposed(hit: Hit) -> None:
    if hit.status == HitStatus.DISPOSED:
        raise _wrong_state(hit, [status for status in HitStatus if status != HitStatus.DISPOSED])


def _refuse_too_new(hit: Hit, at: datetime) -> None:
    if at < hit.created_at + settings.MTURK_MODIFIABLE_AFTER:
        raise InvalidHitState(
            f"Hit {hit.public_id} was created a moment ago and cannot be modified yet. Try again "
            "in some seconds."
        )


def _wrong_state(hit: Hit, allowed: Sequence[str]) -> InvalidHitState:
    return InvalidHitState(
        f"This HIT is currently in the state '{hit.status}'. This operation can be called with a "
        f"status of: {', '.join(map(str, allowed))}"
    )


def claim_token(
    *, requester: Requester, operation: str, token: str | None, at: datetime, made: str = ""
) -> None:
    """Record the token in the caller's transaction; raises AlreadyDone if it was used before."""
    if not token:
        return
    key = {"requester": requester, "operation": operation, "token": token}
    try:
        with transaction.atomic():
            RequestToken.objects.create(**key, made=made, used_at=at)
    except IntegrityError:
        outdated = RequestToken.objects.filter(**key, used_at__lte=at - settings.MTURK_TOKEN_LIFE)
        # Only tokens of CreateHIT expire. Bonuses and additional assignments must never be
        # repeated.
        if operation == "CreateHIT" and outdated.update(made=made, used_at=at):
            return
        raise _already_done(RequestToken.objects.get(**key)) from None


def refuse_repeated_creation(*, requester: Requester, token: str | None, at: datetime) -> None:
    """Raise AlreadyDone if a HIT was created with this token."""
    used = RequestToken.objects.filter(requester=requester, operation="CreateHIT", token=token)
    if made := used.filter(used_at__gt=at - settings.MTURK_TOKEN_LIFE).first():
        raise _already_done(made)


def _already_done(used: RequestToken) -> AlreadyDone:
    if used.operation == "CreateHIT":
        return AlreadyDone(
            f'The HIT with ID "{used.made}" already exists.', code="HitAlreadyExists"
        )
    return AlreadyDone(
        f'The idempotency token "{used.token}" has already been processed.',
        code=settings.MTURK_DUPLICATE_TOKEN_CODE,
    )
