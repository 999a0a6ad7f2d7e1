"""What happens with a completed submission, from what its participant did here."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum

from marketplace.panels.models import PanelSubmission
from marketplace.panels.panel import CodeKind

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


@dataclass(frozen=True)
class Facts:
    """What is known of a submission that awaits its review."""

    # None if nobody with the participant's id arrived here.
    has_arrived: bool
    # None if the participant entered no code of the study's.
    code: CodeKind | None
    wanted: int
    # Dollars that a payout has paid to the participant for the study.
    paid_out: Decimal
    approved: int
    rejected: int
    undecided: int
    completed_at: datetime | None
    return_asked_at: datetime | None


@dataclass(frozen=True)
class Decision:
    step: Step
    reason: str = ""


RETURN_REASONS = {
    CodeKind.NO_WORK: "There was no work left in the study.",
    CodeKind.NO_CONSENT: "You did not consent to take part.",
    CodeKind.FAILED_CHECK: "The question on the instructions was not answered correctly.",
}


def decide(facts: Facts, *, at: datetime, within: timedelta) -> Decision:
    """The next step. Nothing here rejects: only a person does."""
    if problem := _problem(facts):
        return Decision(Step.ASK_A_PERSON, problem)
    done = facts.approved + facts.undecided + facts.rejected
    if done >= facts.wanted:
        # All HITs are done, whatever code was entered.
        return _of_complete_work(facts, at=at, within=within)
    if facts.return_asked_at is not None:
        if at - facts.return_asked_at < within:
            return Decision(Step.WAIT)
        return Decision(Step.ASK_A_PERSON, "The participant has not returned the submission.")
    if facts.code == CodeKind.SCREENED_OUT:
        return Decision(
            Step.ASK_A_PERSON, "The participant was screened out, and the panel has not paid it."
        )
    if not done:
        reason = RETURN_REASONS.get(facts.code) if facts.code else None
        return Decision(Step.ASK_TO_RETURN, reason or "You did not finish the study.")
    if facts.undecided:
        return Decision(Step.WAIT)
    return Decision(
        Step.ASK_A_PERSON, f"The participant did {done} of {facts.wanted} HITs before returning."
    )


def _problem(facts: Facts) -> str:
    """Why only a person can decide, whatever the participant did; empty if there is no reason."""
    if not facts.has_arrived:
        return "Nobody arrived here with this participant's id."
    if facts.paid_out:
        return (
            f"A payout has paid the participant ${facts.paid_out} for this study already. If you "
            "approve the submission, the panel pays the reward, too."
        )
    return ""


def _of_complete_work(facts: Facts, *, at: datetime, within: timedelta) -> Decision:
    if facts.undecided:
        is_late = facts.completed_at is not None and at - facts.completed_at >= within
        return Decision(Step.APPROVE if is_late else Step.WAIT)
    if facts.approved:
        return Decision(Step.APPROVE)
    return Decision(Step.ASK_A_PERSON, "All of the participant's HITs were rejected.")
