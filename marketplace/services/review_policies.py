"""Carry out review policies: score submitted work, then approve, reject or extend."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet

from marketplace import clock, ids
from marketplace.errors import DomainError, QuestionRefused
from marketplace.models import (
    REVEALED,
    Assignment,
    AssignmentStatus,
    Hit,
    HitStatus,
    ReviewAction,
    ReviewLevel,
    ReviewResult,
    Worker,
)
from marketplace.policies import Plurality, Policy, find_plurality, score_known_answers
from marketplace.questions import answers
from marketplace.services import hits, reviews

# How long one process has for a policy before another may start it again.
LEASE = timedelta(minutes=1)
COMPLETE = (HitStatus.REVIEWABLE, HitStatus.REVIEWING)
DEFAULT_REASON = "The answers did not reach the required agreement."


def hits_with_due_policy(at: datetime) -> QuerySet[Hit]:
    """HITs with a review policy and newly submitted work."""
    # No lease lasts an hour: a clock that was ahead has stored a later time.
    due = Q(policy_due_at__lte=at) | Q(policy_due_at__gt=at + timedelta(hours=1))
    rows = Hit.objects.filter(due, policy_due_at__isnull=False).order_by("policy_due_at")
    return rows.select_related("hit_type", "requester")


def apply_policy(hit: Hit, at: datetime) -> bool:
    """Carry out the HIT's review policies; return False if another process is doing so.

    After an error they are tried again, until work of the HIT is due for automatic approval.
    """
    # The sweep may have begun long ago.
    lease = max(at, clock.now()) + LEASE
    mine = Hit.objects.filter(pk=hit.pk, policy_due_at=hit.policy_due_at)
    if not mine.update(policy_due_at=lease):
        return False
    leased = Hit.objects.filter(pk=hit.pk, policy_due_at=lease)
    try:
        _carry_out(hit, at)
    except (InterfaceError, OperationalError):
        raise  # Nothing is wrong with the policy.
    except Exception:
        if hit.assignments.filter(
            status=AssignmentStatus.SUBMITTED, auto_approval_at__lte=at
        ).exists():
            leased.update(policy_due_at=None)
        raise
    # A submission since then has set a new time, and the HIT stays due.
    leased.update(policy_due_at=None)
    return True


def _carry_out(hit: Hit, at: datetime) -> None:
    if hit.assignment_review_policy is not None:
        policy = Policy(hit.assignment_review_policy)
        scored = hit.review_results.filter(level=ReviewLevel.ASSIGNMENT).values("subject_id")
        for assignment in list(_submitted(hit).exclude(public_id__in=scored)):
            _score_assignment(hit, assignment, policy, at)
    hit.refresh_from_db()
    if hit.hit_review_policy is not None and hit.status in COMPLETE:
        _score_hit(hit, Policy(hit.hit_review_policy), at)


def _submitted(hit: Hit) -> QuerySet[Assignment]:
    """Submitted assignments in the order of submission, which is also the order of the actions."""
    submitted = hit.assignments.filter(status__in=REVEALED).order_by("submitted_at", "pk")
    return submitted.select_related("hit__hit_type", "hit__requester", "worker")


def _answers(assignment: Assignment) -> dict[str, list[str]]:
    try:
        return answers.read(assignment.answer)
    except QuestionRefused:
        return {}


@transaction.atomic
def _score_assignment(hit: Hit, assignment: Assignment, policy: Policy, at: datetime) -> None:
    """Store the scores together with what follows from them, so that neither is left alone."""
    # Other decisions on the assignment lock its worker first, too.
    Worker.objects.select_for_update(no_key=True).get(pk=assignment.worker_id)
    assignment.refresh_from_db(fields=["status"])
    mine = hit.review_results.filter(level=ReviewLevel.ASSIGNMENT)
    if mine.filter(subject_id=assignment.public_id).exists():
        return
    scored = score_known_answers(policy.mapping("AnswerKey"), _answers(assignment))
    _decide(hit, assignment, policy, scored.score, "KnownAnswerScore", ReviewLevel.ASSIGNMENT, at)
    about = {
        "hit": hit,
        "level": ReviewLevel.ASSIGNMENT,
        "action_id": ids.entity_id(),
        "subject_id": assignment.public_id,
        "subject_type": "Assignment",
    }
    ReviewResult.objects.bulk_create(
        [
            ReviewResult(
                **about, question_id=name, key="KnownAnswerCorrect", value=str(int(is_correct))
            )
            for name, is_correct in scored.correct.items()
        ]
        + [ReviewResult(**about, key="KnownAnswerScore", value=str(scored.score))]
    )
    least = policy.number("ExtendIfKnownAnswerScoreIsLessThan")
    if least is not None and scored.score < least:
        _extend(hit, policy, ReviewLevel.ASSIGNMENT, at)


@transaction.atomic
def _score_hit(hit: Hit, policy: Policy, at: datetime) -> None:
    """Store the scores together with what follows from them: a rejected assignment may not count
    when the HIT is scored again, and the other ones would have other scores."""
    # First and in order, as other decisions on the assignments do. Later ones are scored later.
    theirs = Worker.objects.filter(pk__in=_submitted(hit).order_by().values("worker"))
    workers = list(theirs.select_for_update(no_key=True).order_by("pk"))
    counted = [
        assignment
        for assignment in _submitted(hit).filter(worker__in=workers)
        if not _is_disregarded(hit, assignment, policy)
    ]
    plurality = find_plurality(
        policy.values("QuestionIds"),
        {assignment.public_id: _answers(assignment) for assignment in counted},
        threshold=policy.number("QuestionAgreementThreshold") or 0,
    )
    _store_plurality(hit, plurality)
    for assignment in counted:
        score = plurality.worker_scores.get(assignment.public_id)
        if score is not None:
            _decide(hit, assignment, policy, score, "WorkerAgreementScore", ReviewLevel.HIT, at)
    least = policy.number("ExtendIfHITAgreementScoreIsLessThan")
    if least is not None and plurality.hit_score < least:
        _extend(hit, policy, ReviewLevel.HIT, at)


def _is_disregarded(hit: Hit, assignment: Assignment, policy: Policy) -> bool:
    if policy.flag("DisregardAssignmentIfRejected") and (
        assignment.status == AssignmentStatus.REJECTED
    ):
        return True
    least = policy.number("DisregardAssignmentIfKnownAnswerScoreIsLessThan")
    if least is None:
        return False
    score = hit.review_results.filter(
        subject_id=assignment.public_id, key="KnownAnswerScore"
    ).first()
    return score is not None and int(score.value) < least


@transaction.atomic
def _store_plurality(hit: Hit, plurality: Plurality) -> None:
    """Bring the stored results up to date: those from before an extension are outdated. A result
    keeps its place in the list, which a program may be reading in pages."""
    # Locked: another process may store them too, if the HIT was due again meanwhile.
    hits.lock(hit)
    rows = [("HIT", hit.public_id, "", "HITAgreementScore", str(plurality.hit_score))]
    for question, answer in plurality.agreed.items():
        text = "|".join(sorted(answer))
        rows.append(("HIT", hit.public_id, question, "PluralityAnswer", text))
        rows.append(
            ("HIT", hit.public_id, question, "PluralityLevel", str(plurality.levels[question]))
        )
    for name, agreements in plurality.agreements.items():
        for question, agrees in agreements.items():
            rows.append(("Assignment", name, question, "AgreedWithPlurality", str(int(agrees))))
    for name, score in plurality.worker_scores.items():
        rows.append(("Assignment", name, "", "WorkerAgreementScore", str(score)))
    stored, action_id = hit.review_results.filter(level=ReviewLevel.HIT), ids.entity_id()
    names = ("subject_type", "subject_id", "question_id", "key")
    keys = {tuple(about): pk for pk, *about in stored.values_list("pk", *names)}
    ReviewResult.objects.bulk_create(
        (
            ReviewResult(
                pk=keys.get(tuple(about)),
                hit=hit,
                level=ReviewLevel.HIT,
                action_id=action_id,
                value=value,
                **dict(zip(names, about, strict=True)),
            )
            for *about, value in rows
        ),
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=["action_id", "value"],
    )
    stored.exclude(action_id=action_id).delete()


def _decide(
    hit: Hit,
    assignment: Assignment,
    policy: Policy,
    score: int,
    score_name: str,
    level: ReviewLevel,
    at: datetime,
) -> None:
    if assignment.status != AssignmentStatus.SUBMITTED:
        return
    approve_from = policy.number(f"ApproveIf{score_name}IsAtLeast")
    reject_below = policy.number(f"RejectIf{score_name}IsLessThan")
    target = {"target_id": assignment.public_id, "target_type": "Assignment"}
    if approve_from is not None and score >= approve_from:
        reason = policy.text("ApproveReason")
        _act(hit, level, "approve", at, target, lambda: reviews.approve(
            assignment=assignment, feedback=reason, at=at
        ))  # fmt: skip
    elif reject_below is not None and score < reject_below:
        reason = policy.text("RejectReason") or DEFAULT_REASON
        _act(hit, level, "reject", at, target, lambda: reviews.reject(
            assignment=assignment, feedback=reason, at=at
        ))  # fmt: skip


def _extend(hit: Hit, policy: Policy, level: ReviewLevel, at: datetime) -> None:
    hit.refresh_from_db()
    most = policy.number("ExtendMaximumAssignments") or 0
    if hit.max_assignments >= most:
        return
    longer = timedelta(seconds=policy.number("ExtendMinimumTimeInSeconds") or 0)

    @transaction.atomic
    def extend() -> None:
        token = f"policy-{hit.pk}-{hit.max_assignments}"
        hits.add_assignments(hit=hit, count=1, at=at, token=token)
        now = hits.lock(hit)
        if now.expires_at < at + longer:
            # At least the step that an extension has to have.
            least = now.expires_at + settings.MTURK_EXPIRATION_STEP
            hits.update_expiration(hit=now, expires_at=max(at + longer, least), at=at)

    target = {"target_id": hit.public_id, "target_type": "HIT"}
    _act(hit, level, "extend", at, target, extend)


@transaction.atomic
def _act(
    hit: Hit,
    level: ReviewLevel,
    name: str,
    at: datetime,
    target: dict[str, Any],
    step: Callable[[], None],
) -> None:
    outcome = {"status": "Succeeded", "result": f"{name} done"}
    try:
        step()
    except DomainError as error:
        code = f"AWS.MechanicalTurk.{error.code}"
        outcome = {"status": "Failed", "result": str(error), "error_code": code}
    ReviewAction.objects.create(
        hit=hit, level=level, name=name, completed_at=at, **target, **outcome
    )
