"""Read the panel's submissions back, decide on them from what participants did here, and approve
them, ask participants to return them, or leave them to a person."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction

from marketplace import clock
from marketplace.errors import StudyRefused
from marketplace.models import REVEALED, AssignmentStatus, ExternalIdentity, Participation, Worker
from marketplace.panels.client import MOST_APPROVALS, Prolific
from marketplace.panels.models import PanelPayment, PanelStudy, PanelSubmission
from marketplace.panels.panel import (
    FAILED_CHECK,
    LEAST_REJECTION,
    REJECTION_CATEGORIES,
    RETURN_REASONS,
    CodeKind,
    PanelRefused,
    PanelUnclear,
    SubmissionStatus,
    SubmissionThere,
)
from marketplace.panels.services.amounts import PAID_BY_STATUS, paid_out, record_reward
from marketplace.panels.services.studies import codes_of

LONG_STUDY = timedelta(minutes=5)


def failed(submission: PanelSubmission) -> int:
    """How many attention checks the participant has failed."""
    if submission.participation is None:
        return 0
    return submission.participation.attention_answers.filter(is_right=False).count()


def least_failed(submission: PanelSubmission) -> int:
    """How many failed checks the panel requires before a rejection for them: Prolific allows one
    from the second on in studies of five minutes or more, from the first one on in shorter ones."""
    lasted = (submission.completed_at or submission.started_at) - submission.started_at
    planned = timedelta(minutes=submission.panel_study.minutes)
    return 2 if max(lasted, planned) >= LONG_STUDY else 1


def allows_rejection(submission: PanelSubmission) -> bool:
    return failed(submission) >= least_failed(submission)


class Step(Enum):
    APPROVE = "approve"
    ASK_TO_RETURN = "ask to return"
    WAIT = "wait"
    ASK_A_PERSON = "ask a person"


class Decision(NamedTuple):
    step: Step
    # What a person reads who has to decide, or a participant who is asked to return.
    reason: str = ""


def decide(submission: PanelSubmission, *, at: datetime) -> Decision:
    """The next step with a submission that awaits its review. Nothing here rejects: only a person
    does."""
    participation = submission.participation
    if participation is None:
        return Decision(Step.ASK_A_PERSON, "Nobody arrived here with this participant's id.")
    if paid := paid_out(participation):
        return Decision(
            Step.ASK_A_PERSON,
            f"A payout has paid the participant ${paid} for this study already. If you approve the "
            "submission, the panel pays the reward, too.",
        )
    answered = participation.assignments().filter(status__in=REVEALED)
    statuses = Counter(answered.values_list("status", flat=True))
    if statuses.total() >= submission.panel_study.study.assignments:
        # All HITs are done, so the entered code does not matter.
        return _of_complete_work(submission, statuses, at)
    return _of_incomplete_work(submission, statuses, at)


def _of_complete_work(
    submission: PanelSubmission, statuses: Counter[str], at: datetime
) -> Decision:
    if statuses[AssignmentStatus.SUBMITTED]:
        done_at = submission.completed_at
        is_late = done_at is not None and at - done_at >= settings.PROLIFIC_DECIDE_WITHIN
        return Decision(Step.APPROVE if is_late else Step.WAIT)
    if statuses[AssignmentStatus.APPROVED]:
        return Decision(Step.APPROVE)
    return Decision(Step.ASK_A_PERSON, "All of the participant's HITs were rejected.")


def _of_incomplete_work(
    submission: PanelSubmission, statuses: Counter[str], at: datetime
) -> Decision:
    asked = filter(None, (submission.return_requested_at, submission.return_asked_at))
    if asked_at := min(asked, default=None):
        if at - asked_at < settings.PROLIFIC_DECIDE_WITHIN:
            return Decision(Step.WAIT)
        return Decision(Step.ASK_A_PERSON, "The participant has not returned the submission.")
    study = submission.panel_study.study
    kind = next((kind for kind, code in codes_of(study).items() if code == submission.code), None)
    if kind == CodeKind.SCREENED_OUT:
        return Decision(
            Step.ASK_A_PERSON, "The participant was screened out, and the panel has not paid it."
        )
    if not statuses:
        reason = RETURN_REASONS.get(kind) if kind else None
        return Decision(Step.ASK_TO_RETURN, reason or "You did not finish the study.")
    if statuses[AssignmentStatus.SUBMITTED]:
        return Decision(Step.WAIT)
    return Decision(
        Step.ASK_A_PERSON,
        f"The participant did {statuses.total()} of {study.assignments} HITs before returning.",
    )


def read_back(*, panel_study: PanelStudy, panel: Prolific, at: datetime) -> list[str]:
    """Store the panel's submissions, and record the rewards of approved ones; return the ids of
    those that cannot be read."""
    rows, unreadable = panel.submissions(panel_study.external_id)
    participations = _participations(panel_study, rows)
    stored = {submission.external_id: submission for submission in panel_study.submissions.all()}
    rewarded = set(
        PanelPayment.objects.filter(
            submission__panel_study=panel_study, kind__in=PAID_BY_STATUS.values()
        ).values_list("submission", "kind")
    )
    for row in rows:
        submission = stored.get(row.id)
        values = _values(row)
        if submission is None or submission.participation_id is None:
            # Stored once: when the participant's id is erased, what was done here still counts.
            values["participation"] = participations.get(row.participant)
        is_same = submission is not None and all(
            getattr(submission, name) == value for name, value in values.items()
        )
        kind = PAID_BY_STATUS.get(row.status)
        is_due = kind is not None and (submission is None or (submission.pk, kind) not in rewarded)
        if not is_same or is_due:
            _store(panel_study, row, values, is_due=is_due, at=at)
    return unreadable


@transaction.atomic
def _store(
    panel_study: PanelStudy,
    row: SubmissionThere,
    values: dict[str, Any],
    *,
    is_due: bool,
    at: datetime,
) -> None:
    if participation := values.get("participation"):
        # Payouts lock the worker, too: one is made before this, or leaves the participant out.
        Worker.objects.select_for_update(no_key=True).filter(pk=participation.worker_id).first()
    stored, _ = PanelSubmission.objects.update_or_create(
        panel_study=panel_study,
        external_id=row.id,
        defaults=values,
        # The round began earlier, and a payout may have been made since.
        create_defaults={**values, "known_since": max(at, clock.now())},
    )
    if is_due:
        record_reward(stored, at=at)


def _values(row: SubmissionThere) -> dict[str, Any]:
    values = {name: value for name, value in vars(row).items() if name not in ("id", "participant")}
    if row.status != SubmissionStatus.AWAITING_REVIEW:
        values["question"] = ""
    return values


def _participations(
    panel_study: PanelStudy, rows: Sequence[SubmissionThere]
) -> dict[str, Participation]:
    """The study's participations by the participant's id at the panel."""
    study = panel_study.study
    identities = ExternalIdentity.objects.filter(
        source=study.id_parameter, worker__participations__study=study
    )
    workers = dict(identities.values_list("worker_id", "identifier"))
    wanted = {row.participant for row in rows}
    mine = Participation.objects.filter(study=study, worker__in=workers).select_related("worker")
    return {
        workers[participation.worker_id]: participation
        for participation in mine
        if workers[participation.worker_id] in wanted
    }


def act(*, panel_study: PanelStudy, panel: Prolific, at: datetime) -> None:
    """Approve, ask to return, or leave to a person what awaits its review."""
    waiting = panel_study.submissions.filter(status=SubmissionStatus.AWAITING_REVIEW)
    approved: list[PanelSubmission] = []
    asked: list[tuple[PanelSubmission, Decision]] = []
    for submission in waiting.select_related("participation__study").order_by("pk"):
        decision = decide(submission, at=at)
        question = decision.reason if decision.step == Step.ASK_A_PERSON else ""
        if question != submission.question:
            PanelSubmission.objects.filter(pk=submission.pk).update(question=question)
        if decision.step == Step.APPROVE and _is_due(submission.approve_asked_at, at):
            approved.append(submission)
        elif decision.step == Step.ASK_TO_RETURN:
            asked.append((submission, decision))
    refusals = [
        *_approve_all(approved, panel, at),
        *_ask_all_to_return(asked, panel, at),
    ]
    if refusals:
        raise refusals[-1]


def _is_due(asked_at: datetime | None, at: datetime) -> bool:
    return asked_at is None or at - asked_at >= settings.PROLIFIC_ASK_AGAIN


def _approve_all(
    submissions: Sequence[PanelSubmission], panel: Prolific, at: datetime
) -> list[PanelRefused]:
    """Approve them; return the refusals.

    The panel may refuse a request because of one submission in it, such as that of a closed
    account. Its halves are tried then, so that this keeps nobody else from being paid.
    """
    if not submissions:
        return []
    if len(submissions) <= MOST_APPROVALS:
        try:
            _approve(submissions, panel, at)
            return []
        except PanelRefused as error:
            if len(submissions) == 1:
                return [error]
    half = (len(submissions) + 1) // 2
    return [
        *_approve_all(submissions[:half], panel, at),
        *_approve_all(submissions[half:], panel, at),
    ]


def _approve(submissions: Sequence[PanelSubmission], panel: Prolific, at: datetime) -> None:
    """Approve in one request. An approval that is repeated changes nothing at the panel."""
    keys = [submission.pk for submission in submissions]
    PanelSubmission.objects.filter(pk__in=keys).update(approve_asked_at=at)
    panel.approve([submission.external_id for submission in submissions])


def _ask_all_to_return(
    asked: Sequence[tuple[PanelSubmission, Decision]], panel: Prolific, at: datetime
) -> list[PanelRefused]:
    """Ask them all; return the refusals."""
    refusals = []
    for submission, decision in asked:
        try:
            _ask_to_return(submission, decision, panel, at)
        except PanelRefused as error:
            refusals.append(error)  # The others are asked all the same.
    return refusals


def _ask_to_return(
    submission: PanelSubmission, decision: Decision, panel: Prolific, at: datetime
) -> None:
    mine = PanelSubmission.objects.filter(pk=submission.pk)
    mine.update(return_asked_at=at)
    try:
        panel.ask_to_return(submission.external_id, decision.reason)
    except (PanelRefused, PanelUnclear):
        # The next round asks again.
        mine.update(return_asked_at=submission.return_asked_at)
        raise


def approve_by_hand(*, submission: PanelSubmission, panel: Prolific, at: datetime) -> None:
    """Approve what a person has looked at; raises StudyRefused, PanelRefused, PanelUnclear."""
    _check_waiting(submission)
    _approve([submission], panel, at)


def ask_by_hand(*, submission: PanelSubmission, reason: str, panel: Prolific, at: datetime) -> None:
    """Ask a participant to return the submission, with the reason that they read."""
    _check_waiting(submission)
    if not reason.strip():
        raise StudyRefused("Write the reason that the participant reads.")
    _ask_to_return(submission, Decision(Step.ASK_TO_RETURN, reason.strip()), panel, at)


def reject(*, submission: PanelSubmission, category: str, reason: str, panel: Prolific) -> None:
    """Reject a submission: a person's decision only; raises StudyRefused and the panel's errors."""
    _check_waiting(submission)
    reason = " ".join(reason.split())
    if category not in REJECTION_CATEGORIES:
        raise StudyRefused("Choose one of the categories.")
    if len(reason) < LEAST_REJECTION:
        raise StudyRefused(
            f"The reason has {len(reason)} characters. The panel requires {LEAST_REJECTION}, "
            "because the participant is not paid and has to understand why."
        )
    if failed_check(submission):
        raise StudyRefused(
            "A failed question on the instructions is no reason for a rejection. Ask the "
            "participant to return the submission."
        )
    if category == FAILED_CHECK and not allows_rejection(submission):
        raise StudyRefused(
            f"The participant failed {failed(submission)} attention checks. The panel "
            f"requires {least_failed(submission)} for a rejection in this study."
        )
    panel.reject(submission.external_id, category=category, reason=reason)
    PanelSubmission.objects.filter(pk=submission.pk).update(
        status=SubmissionStatus.REJECTED, question=""
    )


def failed_check(submission: PanelSubmission) -> bool:
    """Whether the participant failed the study's comprehension check."""
    participation = submission.participation
    return (
        participation is not None
        and participation.wrong_answers > 0
        and participation.passed_check_at is None
    )


def _check_waiting(submission: PanelSubmission) -> None:
    submission.refresh_from_db()
    if submission.status != SubmissionStatus.AWAITING_REVIEW:
        raise StudyRefused(f"This submission is {submission.status.lower()} at the panel already.")


def data_of(worker: Worker) -> dict[str, Any]:
    """The worker's submissions at panels, and what the panels have paid or are asked to pay."""
    mine = PanelSubmission.objects.filter(participation__worker=worker).order_by("pk")
    payments = PanelPayment.objects.filter(submission__in=mine).order_by("pk")
    return {
        "panel_submissions": list(
            mine.values(
                "panel_study__study__slug",
                "external_id",
                "status",
                "code",
                "started_at",
                "completed_at",
                "return_requested_at",
                "approve_asked_at",
                "return_asked_at",
                "question",
                "bonuses_there",
                "known_since",
            )
        ),
        "panel_payments": list(
            payments.values("submission__external_id", "kind", "amount", "batch__state", "made_at")
        ),
    }
