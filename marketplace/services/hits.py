"""Create, extend, expire and dispose of HITs and HIT types."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from marketplace import ids, queries, requirements
from marketplace.errors import AlreadyDone, DomainError, InvalidHitState
from marketplace.models import (
    EventType,
    Hit,
    HitLayout,
    HitStatus,
    HitType,
    Requester,
)
from marketplace.policies import KNOWN_ANSWERS, PLURALITY, Policy
from marketplace.questions import check_question

from . import money
from .events import is_wanted, record_event
from .qualification_types import check_types_usable
from .tokens import claim_token

A_SECOND = timedelta(seconds=1)
# The same limit as for questions.
LARGEST_POLICY = 65_535
LANGUAGE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", re.ASCII)
WEB_ADDRESS = re.compile("https?://[^/@\\s]+/[!-~]*", re.ASCII)
LONGEST_ADDRESS = 500


@dataclass(frozen=True)
class HitTypeProperties:
    """The properties that identify a HIT type."""

    title: str
    description: str
    reward: Decimal
    assignment_duration: timedelta
    auto_approval_delay: timedelta
    keywords: str = ""
    qualification_requirements: list[dict[str, Any]] = field(default_factory=list)

    def digest(self) -> str:
        """A hash of the properties that does not depend on the order of keys."""
        return hashlib.sha256(
            json.dumps(asdict(self), sort_keys=True, default=str).encode()
        ).hexdigest()


@dataclass(frozen=True)
class HitRequest:
    """The properties of one HIT, except those of its type."""

    question: str
    lifetime: timedelta
    max_assignments: int = 1
    requester_annotation: str = ""
    layout: HitLayout | None = None
    assignment_review_policy: dict[str, Any] | None = None
    hit_review_policy: dict[str, Any] | None = None


def get_or_create_hit_type(
    *, requester: Requester, properties: HitTypeProperties, at: datetime
) -> HitType:
    """The requester's HIT type with these properties; raises DomainError if they are invalid."""
    _check_type(properties)
    values = asdict(properties)
    hit_type, _created = HitType.objects.get_or_create(
        requester=requester,
        properties_digest=properties.digest(),
        defaults={**values, "created_at": at},
    )
    return hit_type


def describe(*, hit_type: HitType, campaign: str, language: str, url: str) -> None:
    """Note what the HITs belong to; raises DomainError if a value is invalid."""
    if len(campaign) > 100 or not campaign.isprintable():
        raise DomainError("The name of a campaign has at most 100 printable characters.")
    if language and not (len(language) <= 35 and LANGUAGE.fullmatch(language)):
        raise DomainError("A language is a BCP 47 tag, such as de or pt-BR.")
    # A link on operators' pages. A host without a dot is one of a machine's or a network's own.
    if url and not (len(url) <= LONGEST_ADDRESS and WEB_ADDRESS.fullmatch(url)):
        raise DomainError("The address of a page begins with https:// or http://.")
    values = {"campaign": campaign, "language": language, "campaign_url": url}
    # Programs repeat it at each of their rounds.
    if any(getattr(hit_type, name) != value for name, value in values.items()):
        HitType.objects.filter(pk=hit_type.pk).update(**values)


def _check_type(properties: HitTypeProperties) -> None:
    _check_range("AssignmentDurationInSeconds", properties.assignment_duration.total_seconds(),
                 settings.MTURK_DURATION_SECONDS)  # fmt: skip
    _check_range("AutoApprovalDelayInSeconds", properties.auto_approval_delay.total_seconds(),
                 settings.MTURK_AUTO_APPROVAL_SECONDS)  # fmt: skip
    if properties.reward > settings.MTURK_MOST_REWARD:
        raise DomainError(f"Reward must be at most {settings.MTURK_MOST_REWARD}.")
    for name, text, longest in (
        ("Title", properties.title, 128),
        ("Description", properties.description, 2000),
        ("Keywords", properties.keywords, 1000),
    ):
        if len(text) > longest:
            raise DomainError(f"{name} has {len(text)} characters; at most {longest} are allowed.")
    for name, text in (("Title", properties.title), ("Description", properties.description)):
        if not text.strip():
            raise DomainError(f"{name} must not be empty.")
    for problem in requirements.problems(properties.qualification_requirements):
        raise DomainError(problem)
    check_types_usable(properties.qualification_requirements)


def _check_range(name: str, value: float, limits: tuple[int, int]) -> None:
    least, most = limits
    if not least <= value <= most:
        raise DomainError(f"{name} must be between {least} and {most}, not {value:.0f}.")


@transaction.atomic
def create_hit(
    *, hit_type: HitType, request: HitRequest, at: datetime, token: str | None = None
) -> Hit:
    """Create a HIT and hold its cost; raises AlreadyDone, InsufficientFunds or DomainError."""
    _check_range("LifetimeInSeconds", request.lifetime.total_seconds(),
                 settings.MTURK_LIFETIME_SECONDS)  # fmt: skip
    _check_range("MaxAssignments", request.max_assignments, (1, settings.MTURK_MAX_ASSIGNMENTS))
    if len(request.requester_annotation) > 255:
        raise DomainError("RequesterAnnotation must have at most 255 characters.")
    check_question(request.question)
    _check_policies(request)
    # A qualification type may have been deleted since the HIT type was created.
    check_types_usable(hit_type.qualification_requirements)
    public_id = ids.entity_id()
    claim_token(requester=hit_type.requester, operation="CreateHIT", token=token, at=at,
                made=public_id)  # fmt: skip
    hit = Hit.objects.create(
        hit_type=hit_type,
        requester=hit_type.requester,
        public_id=public_id,
        question=request.question,
        layout=request.layout,
        requester_annotation=request.requester_annotation,
        assignment_review_policy=request.assignment_review_policy,
        hit_review_policy=request.hit_review_policy,
        max_assignments=request.max_assignments,
        available=request.max_assignments,
        fee=money.assignment_fee(hit_type, max_assignments=request.max_assignments),
        expires_at=at + request.lifetime,
        created_at=at,
    )
    money.hold(hit=hit, slots=request.max_assignments, at=at)
    record_event(event_type=EventType.HIT_CREATED, hit=hit, at=at)
    return hit


def _check_policies(request: HitRequest) -> None:
    for document, expected in (
        (request.assignment_review_policy, KNOWN_ANSWERS),
        (request.hit_review_policy, PLURALITY),
    ):
        if document is not None:
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
    queries.move(hit.pk, at=at, available=count, slots=count)
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
    queries.move(hit.pk, at=at)
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
    queries.move(hit.pk, at=at)
    record_event(event_type=EventType.HIT_EXPIRED, hit=hit, at=at)
    if was_open:
        announce_if_reviewable(hit=hit, at=at)


def announce_if_reviewable(*, hit: Hit, at: datetime) -> None:
    """Schedule review policies, and record an event if the HIT is now reviewable."""
    if hit.hit_review_policy is not None or hit.assignment_review_policy is not None:
        Hit.objects.filter(pk=hit.pk).update(policy_due_at=at)
    reviewable = Hit.objects.filter(pk=hit.pk, status=HitStatus.REVIEWABLE)
    if is_wanted(EventType.HIT_REVIEWABLE, hit) and reviewable.exists():
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
def dispose(*, hit: Hit, at: datetime) -> None:
    """Dispose of the HIT and release the rest of its hold; raises InvalidHitState."""
    hit = lock(hit)
    if hit.status not in settings.MTURK_DELETABLE_HIT_STATUSES:
        raise _wrong_state(hit, sorted(settings.MTURK_DELETABLE_HIT_STATUSES, reverse=True))
    if hit.unreviewed:
        raise InvalidHitState(
            f"This HIT has {hit.unreviewed} submitted assignments that were neither approved nor "
            "rejected. It cannot be deleted before they are reviewed."
        )
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
    unpaid = hit.available + hit.pending + hit.unreviewed
    money.release(hit=hit, slots=unpaid, at=at)
    hit.hit_type = hit_type
    hit.fee = money.assignment_fee(hit_type, max_assignments=hit.max_assignments)
    Hit.objects.filter(pk=hit.pk).update(hit_type=hit_type, fee=hit.fee)
    money.hold(hit=hit, slots=unpaid, at=at)


def lock(hit: Hit) -> Hit:
    """Lock the HIT until the caller's transaction ends; return it as it is now."""
    return queries.locked_hit(hit)


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
